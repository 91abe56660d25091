// Orders the nodes of a graph for execution, and finds cycles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "model/walk.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Names that are views of a graph's messages: valid until the graph is changed.
using NameViews = base::KeyedSet<std::string_view>;

/// The names of a graph's initializers.
NameViews names_of_initializers(const schema::GraphProto& graph);
/// The names that a graph defines without nodes: its inputs and initializers.
NameViews names_before_nodes(const schema::GraphProto& graph);

class UsedNames;  // see order.cc

struct Order {
  /// Indices of nodes. Each comes after the nodes whose outputs it, or a subgraph of it, uses. Nodes on a cycle, and
  /// nodes that depend on one, are missing.
  std::vector<int> nodes;
  std::uint64_t depth = 0;  ///< the number of nodes on the longest path
};

/// Computes and keeps the orders of a model's graphs. Each graph is analysed once, at any depth. The model must outlive
/// this object and must not change. Not thread-safe.
class Orders {
 public:
  Orders();
  Orders(const Orders&) = delete;
  Orders& operator=(const Orders&) = delete;
  ~Orders();

  const Order& of(const schema::GraphProto& graph);

  /// Returns the sites of at most `most` nodes on a cycle: in this list of nodes, else in one of their subgraphs. Empty
  /// if no cycle exists. `site` is the site of the graph or function that has the nodes.
  std::vector<std::string> find_cycle(const Nodes& nodes, const std::string& site, std::size_t most);

 private:
  std::unique_ptr<UsedNames> names_;
  std::map<const schema::GraphProto*, Order> known_;
};

}  // namespace onnxar
