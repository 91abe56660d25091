// The order in which the nodes of a graph can run, and cycles, for which there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "graph/walk.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

using NameViews = base::KeyedSet<std::string_view>;

/// The names of a graph's initializers.
NameViews names_of_initializers(const schema::GraphProto& graph);
/// The names that a graph defines without nodes: its inputs and initializers.
NameViews names_before_nodes(const schema::GraphProto& graph);

class UsedNames;

struct Order {
  /// The numbers of nodes, each after those whose outputs it (or a subgraph of it) uses. Nodes on a cycle, and those
  /// after them, are missing.
  std::vector<int> nodes;
  std::uint64_t depth = 0;  ///< nodes on the longest path
};

/// Orders of the graphs of a model. Each graph is looked into once, however many graphs are around it. The model must
/// outlive it and stay as it is.
class Orders {
 public:
  Orders();
  Orders(const Orders&) = delete;
  Orders& operator=(const Orders&) = delete;
  ~Orders();

  const Order& of(const schema::GraphProto& graph);

  /// Sites of the nodes on a cycle in a list of nodes, or else in one of their subgraphs; at most `most`. Empty if
  /// there is no cycle. `site` is that of the graph or function around the nodes.
  std::vector<std::string> find_cycle(const Nodes& nodes, const std::string& site, std::size_t most);

 private:
  std::unique_ptr<UsedNames> names_;
  std::map<const schema::GraphProto*, Order> known_;
};

}  // namespace onnxar
