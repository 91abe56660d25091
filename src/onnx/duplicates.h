// Finds names that a graph or function defines more than once: as initializers, sparse initializers or outputs of
// nodes.
//
// ONNX forbids this, but runtimes accept some cases and then choose by the place of the data. ONNX Runtime (seen from
// 1.23 on) takes the first of two initializers if its data is in the model, and the last if it is external; Constant
// nodes count as initializers. So the data of such tensors must stay where it was, inside or outside the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "onnx/sites.h"
#include "onnx/wire.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// Receives a name that an earlier initializer or output of the same graph has, the field that defines it again, and
/// the place to report: a tensor's or a node's message.
using VisitRedefinition = std::function<void(std::string_view name, const Level& by, Range place)>;

/// The definitions that are compared: all, or those that runtimes take for initializers, which are initializers, sparse
/// initializers and Constant nodes. Runtimes refuse a second definition by another node, wherever data is.
enum class Definitions : std::uint8_t { all, constant };

/// Visits every definition after the first of each name of one graph or function, in wire order. Graphs within it are
/// not entered. An output without a name defines nothing; initializers without one define the same name. Throws wire.*.
/// Cost: O(fields of the graph, its nodes and its initializers).
void find_redefinitions(Bytes model, const Level& graph, const VisitRedefinition& visit,
                        Definitions which = Definitions::all);

/// Decides if runtimes may choose another definition of a tensor's name when its data moves into or out of the model.
/// It must be called for tensors of one walk, in order; then each graph and node is read once. Not synchronised.
class DuplicateNames {
 public:
  /// True if the graph defines the name of this initializer, or of an output of the node that holds the tensor, more
  /// than once, only by constants. Damage that the walk has not reached yet makes it false. Cost: O(depth), and that of
  /// find_redefinitions for the first tensor of each graph.
  [[nodiscard]] bool has(const TensorSite& site);

 private:
  using Names = base::KeyedSet<std::string_view>;
  /// Keeps the result for the last message at one depth. Different messages begin at different bytes.
  struct Known {
    std::uint64_t begin = 0;  // of the message that was read last; none begins at 0, because a tag comes first
    Names names = {};         // of a graph or function: those that it defines more than once
    bool is_twice = false;    // of a node: whether an output has one of these names
  };

  const Names& names_in(const TensorSite& site, std::size_t depth);
  bool is_node_twice(const TensorSite& site, std::size_t depth);
  /// Returns the new entry for the message at this depth; null if it was read before.
  Known* begin_reading(const TensorSite& site, std::size_t depth);

  std::vector<Known> known_;  // by depth
};

}  // namespace onnxar::onnx
