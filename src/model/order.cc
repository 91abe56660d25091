// Orders the nodes of a graph for execution, and finds cycles.
#include "model/order.h"

#include <algorithm>

#include "model/walk.h"

namespace onnxar {
namespace {

/// The edges between the nodes of a list: from a node to the users of its outputs.
struct Edges {
  std::vector<std::vector<int>> users;  // by node
  std::vector<std::size_t> waits_for;   // by node, the number of uses of other nodes' outputs

  Edges(const Nodes& nodes, UsedNames& names) : users(static_cast<std::size_t>(nodes.size())), waits_for(users.size()) {
    // All producers first: ONNX wants nodes in topological order, but models that are out of order must be ordered,
    // too.
    base::KeyedMap<std::string_view, int> producers;
    for (int i = 0; i < nodes.size(); ++i) {
      for (const std::string& output : nodes[i].output()) {
        // An empty name is an optional output that is left out. The first one of duplicate names counts.
        if (!output.empty()) producers.emplace(output, i);
      }
    }
    std::vector<std::string_view> used;
    for (int i = 0; i < nodes.size(); ++i) {
      used.clear();
      names.add_of(nodes[i], used);
      for (const std::string_view name : used) add_edge(producers, name, i);
    }
  }

 private:
  void add_edge(const base::KeyedMap<std::string_view, int>& producers, std::string_view name, int user) {
    const auto producer = producers.find(name);
    if (producer == producers.end()) return;
    users[static_cast<std::size_t>(producer->second)].push_back(user);
    ++waits_for[static_cast<std::size_t>(user)];
  }
};

/// Kahn's algorithm with a queue, which keeps the model's order for independent nodes. A recursive search would
/// overflow the stack on a long chain of nodes.
Order order_of(const Nodes& nodes, UsedNames& names) {
  Edges edges(nodes, names);
  std::vector<std::uint64_t> depths(edges.users.size(), 1);
  Order order;
  for (int i = 0; i < nodes.size(); ++i) {
    if (edges.waits_for[static_cast<std::size_t>(i)] == 0) order.nodes.push_back(i);
  }
  for (std::size_t next = 0; next < order.nodes.size(); ++next) {
    const auto node = static_cast<std::size_t>(order.nodes[next]);
    order.depth = std::max(order.depth, depths[node]);
    for (const int user : edges.users[node]) {
      const auto at = static_cast<std::size_t>(user);
      depths[at] = std::max(depths[at], depths[node] + 1);
      if (--edges.waits_for[at] == 0) order.nodes.push_back(user);
    }
  }
  return order;
}

/// Nodes without an order are on a cycle or come after one. Each waits for another such node. Therefore, as many steps
/// back as there are nodes end on a cycle, from any start.
std::vector<std::string> cycle_of(const Nodes& nodes, UsedNames& names, const std::string& site, std::size_t most) {
  const Order order = order_of(nodes, names);
  if (order.nodes.size() == static_cast<std::size_t>(nodes.size())) return {};
  std::vector<bool> ordered(static_cast<std::size_t>(nodes.size()));
  for (const int node : order.nodes) ordered[static_cast<std::size_t>(node)] = true;
  const Edges edges(nodes, names);
  std::vector<int> before(ordered.size(), -1);  // for each node without an order, one that it waits for
  int start = -1;
  for (int i = 0; i < nodes.size(); ++i) {
    if (ordered[static_cast<std::size_t>(i)]) continue;
    start = i;
    for (const int user : edges.users[static_cast<std::size_t>(i)]) before[static_cast<std::size_t>(user)] = i;
  }
  for (int steps = 0; steps < nodes.size(); ++steps) start = before[static_cast<std::size_t>(start)];
  std::vector<std::string> sites;
  int node = start;
  do {
    sites.push_back(site_of_node(site, node));
    node = before[static_cast<std::size_t>(node)];
  } while (node != start && sites.size() < most);
  std::ranges::reverse(sites);
  return sites;
}

}  // namespace

NameViews names_of_initializers(const schema::GraphProto& graph) {
  NameViews names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  return names;
}

NameViews names_before_nodes(const schema::GraphProto& graph) {
  NameViews names = names_of_initializers(graph);
  for (const auto& input : graph.input()) names.insert(input.name());
  return names;
}

Orders::Orders() : names_(std::make_unique<UsedNames>()) {}
Orders::~Orders() = default;

const Order& Orders::of(base::Kept<const schema::GraphProto> kept) {
  const schema::GraphProto& graph = kept;
  const auto [order, added] = known_.try_emplace(&graph);
  if (added) order->second = order_of(graph.node(), *names_);
  return order->second;
}

std::vector<std::string> Orders::find_cycle(base::Kept<const Nodes> kept, const std::string& site, std::size_t most) {
  const Nodes& nodes = kept;
  std::vector<std::string> cycle = cycle_of(nodes, *names_, site, most);
  for (int i = 0; i < nodes.size() && cycle.empty(); ++i) {
    for_each_subgraph(nodes[i], site_of_node(site, i), [&](const auto& graph, const auto& path) {
      if (cycle.empty()) cycle = find_cycle(graph.node(), path, most);
    });
  }
  return cycle;
}

}  // namespace onnxar
