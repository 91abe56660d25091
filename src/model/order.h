// Orders the nodes of a graph for execution, and finds cycles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/kept.h"
#include "base/keyed_hash.h"
#include "model/walk.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Names that are views of a graph's messages: valid until the graph is changed.
using NameViews = base::KeyedSet<std::string_view>;

/// Returns the names of a graph's initializers.
NameViews names_of_initializers(const schema::GraphProto& graph);
/// Returns the names that a graph defines without nodes: its inputs and initializers.
NameViews names_before_nodes(const schema::GraphProto& graph);

struct Order {
  /// Indices of nodes. Each comes after the nodes whose outputs it, or a subgraph of it, uses. Nodes on a cycle, and
  /// nodes that depend on one, are missing.
  std::vector<int> nodes;
  std::uint64_t depth = 0;  ///< the number of nodes on the longest path
};

/// Collects the names that subgraphs use from the graphs around them. Results are kept by graph: otherwise a graph at
/// depth d would be read d times, once for each graph around it.
class UsedNames {
 public:
  /// Adds the names that a node or its subgraphs use from the scope of the node.
  void add_of(const schema::NodeProto& node, std::vector<std::string_view>& used) {
    used.insert(used.end(), node.input().begin(), node.input().end());
    for_each_subgraph(node, "", [&](const schema::GraphProto& graph, const std::string&) {
      const std::vector<std::string_view>& outer = of(graph);
      used.insert(used.end(), outer.begin(), outer.end());
    });
  }

 private:
  /// Returns each outer name once. Protobuf's parser bounds the depth of recursion.
  const std::vector<std::string_view>& of(const schema::GraphProto& graph) {
    if (const auto known = known_.find(&graph); known != known_.end()) return known->second;
    std::vector<std::string_view> inside;
    NameViews seen = names_before_nodes(graph);  // names defined in the graph, or already in the list
    for (const auto& node : graph.node()) {
      add_of(node, inside);
      seen.insert(node.output().begin(), node.output().end());
    }
    for (const auto& output : graph.output()) inside.push_back(output.name());  // may pass an outer value through
    std::erase_if(inside, [&seen](std::string_view name) { return !seen.insert(name).second; });
    return known_[&graph] = std::move(inside);
  }

  std::map<const schema::GraphProto*, std::vector<std::string_view>> known_;
};

/// Computes and keeps the orders of a model's graphs. Each graph is analysed once, at any depth. The model must outlive
/// this object and must not change. Not thread-safe.
class Orders {
 public:
  Orders();
  Orders(const Orders&) = delete;
  Orders& operator=(const Orders&) = delete;
  ~Orders();

  /// Returns the order of a graph of the model.
  const Order& of(base::Kept<const schema::GraphProto> kept);

  /// Returns the sites of at most `most` nodes on a cycle: in this list of nodes, else in one of their subgraphs. Empty
  /// if no cycle exists. `site` is the site of the graph or function that has the nodes of the model.
  std::vector<std::string> find_cycle(base::Kept<const Nodes> kept, const std::string& site, std::size_t most);

 private:
  std::unique_ptr<UsedNames> names_;
  std::map<const schema::GraphProto*, Order> known_;
};

}  // namespace onnxar
