#include "graph/graph_summary.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/callables.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "graph/node_list.h"
#include "onnx/domains.h"

namespace onnxar {
namespace {

using base::concat;
using Nodes = google::protobuf::RepeatedPtrField<schema::NodeProto>;
using NameViews = base::KeyedSet<std::string_view>;

constexpr std::size_t most_listed = 100;  // of what is wrong

// --- Interface -------------------------------------------------------------------------------------------------------

std::string type_name(std::int32_t type) { return to_string(static_cast<DataType>(type)); }

/// Recursion is bounded by what protobuf's parser lets in.
std::string text_of(const schema::TypeProto& type) {
  switch (type.value_case()) {
    case schema::TypeProto::kTensorType: return type_name(type.tensor_type().elem_type());
    case schema::TypeProto::kSparseTensorType:
      return concat("sparse(", type_name(type.sparse_tensor_type().elem_type()), ")");
    case schema::TypeProto::kSequenceType: return concat("sequence(", text_of(type.sequence_type().elem_type()), ")");
    case schema::TypeProto::kOptionalType: return concat("optional(", text_of(type.optional_type().elem_type()), ")");
    case schema::TypeProto::kMapType:
      return concat("map(", type_name(type.map_type().key_type()), ", ", text_of(type.map_type().value_type()), ")");
    case schema::TypeProto::kOpaqueType:
      return concat("opaque(", type.opaque_type().domain(), ".", type.opaque_type().name(), ")");
    case schema::TypeProto::VALUE_NOT_SET: break;
  }
  return {};
}

std::vector<Dimension> dimensions(const schema::TensorShapeProto& shape) {
  std::vector<Dimension> dims;
  for (const auto& dim : shape.dim()) {
    Dimension& added = dims.emplace_back();
    if (dim.has_dim_value()) added.value = dim.dim_value();
    added.name = dim.dim_param();
  }
  return dims;
}

ValueSummary summary_of(const schema::ValueInfoProto& value) {
  ValueSummary summary{value.name(), text_of(value.type()), std::nullopt};
  if (value.type().tensor_type().has_shape()) summary.shape = dimensions(value.type().tensor_type().shape());
  if (value.type().sparse_tensor_type().has_shape())
    summary.shape = dimensions(value.type().sparse_tensor_type().shape());
  return summary;
}

NameViews initialized(const schema::GraphProto& graph) {
  NameViews names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  return names;
}

/// What a graph itself gives names to, beside its nodes.
NameViews given(const schema::GraphProto& graph) {
  NameViews names = initialized(graph);
  for (const auto& input : graph.input()) names.insert(input.name());
  return names;
}

// --- Edges -----------------------------------------------------------------------------------------------------------

/// Looks for names that nothing gives, scope by scope: a subgraph sees the names around it.
class Scopes {
 public:
  explicit Scopes(std::vector<DanglingInput>& dangling) : dangling_(dangling) {}

  void graph(const schema::GraphProto& graph, const std::string& site) { nodes(graph.node(), given(graph), site); }

  void nodes(const Nodes& nodes, NameViews names, const std::string& site) {
    for (const auto& node : nodes) names.insert(node.output().begin(), node.output().end());
    scopes_.push_back(std::move(names));
    for (int i = 0; i < nodes.size(); ++i) {
      const std::string path = site_of_node(site, i);
      for (const std::string& input : nodes[i].input()) use(input, path);
      for_each_subgraph(nodes[i], path, [this](const auto& subgraph, const auto& where) { graph(subgraph, where); });
    }
    scopes_.pop_back();
  }

 private:
  void use(const std::string& name, const std::string& site) {
    if (name.empty() || dangling_.size() >= most_listed) return;
    const auto has = [&name](const NameViews& names) { return names.contains(name); };
    if (std::ranges::none_of(scopes_, has)) dangling_.push_back({site, name});
  }

  std::vector<DanglingInput>& dangling_;
  std::vector<NameViews> scopes_;
};

}  // namespace

/// Names that graphs use of what is around them, each graph looked into once however many graphs it is in.
class UsedNames {
 public:
  /// The names around it that a node, or a subgraph of it, uses.
  void add_of(const schema::NodeProto& node, std::vector<std::string_view>& used) {
    used.insert(used.end(), node.input().begin(), node.input().end());
    for_each_subgraph(node, "", [&](const schema::GraphProto& graph, const std::string&) {
      const std::vector<std::string_view>& outer = of(graph);
      used.insert(used.end(), outer.begin(), outer.end());
    });
  }

 private:
  /// Each name once.
  const std::vector<std::string_view>& of(const schema::GraphProto& graph) {
    if (const auto known = known_.find(&graph); known != known_.end()) return known->second;
    std::vector<std::string_view> inside;
    NameViews seen = given(graph);  // what the graph gives itself, and then what was used before
    for (const auto& node : graph.node()) {
      add_of(node, inside);
      seen.insert(node.output().begin(), node.output().end());
    }
    for (const auto& output : graph.output()) inside.push_back(output.name());  // may hand a value through
    std::erase_if(inside, [&seen](std::string_view name) { return !seen.insert(name).second; });
    return known_[&graph] = std::move(inside);
  }

  std::map<const schema::GraphProto*, std::vector<std::string_view>> known_;
};

namespace {

/// Which nodes of a list wait for which.
struct Edges {
  std::vector<std::vector<int>> users;  // by node
  std::vector<std::size_t> waits_for;   // how many nodes, by node

  Edges(const Nodes& nodes, UsedNames& names) : users(static_cast<std::size_t>(nodes.size())), waits_for(users.size()) {
    base::KeyedMap<std::string_view, int> producers;
    for (int i = 0; i < nodes.size(); ++i) {
      for (const std::string& output : nodes[i].output()) {
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

struct Order {
  std::vector<int> nodes;
  std::uint64_t depth = 0;
};

/// Kahn's algorithm; nodes that stand in order stay in order.
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

/// Of the nodes that are in no order, those of one cycle: from any of them, back along what it waits for.
std::vector<std::string> cycle_of(const Nodes& nodes, UsedNames& names, const std::string& site) {
  const Order order = order_of(nodes, names);
  if (order.nodes.size() == static_cast<std::size_t>(nodes.size())) return {};
  std::vector<bool> ordered(static_cast<std::size_t>(nodes.size()));
  for (const int node : order.nodes) ordered[static_cast<std::size_t>(node)] = true;
  const Edges edges(nodes, names);
  std::vector<int> before(ordered.size(), -1);  // an unordered node that each unordered one waits for
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
  } while (node != start && sites.size() < most_listed);
  std::ranges::reverse(sites);
  return sites;
}

/// The first cycle in a list of nodes or in one of their subgraphs.
std::vector<std::string> find_cycle(const Nodes& nodes, UsedNames& names, const std::string& site) {
  std::vector<std::string> cycle = cycle_of(nodes, names, site);
  for (int i = 0; i < nodes.size() && cycle.empty(); ++i) {
    for_each_subgraph(nodes[i], site_of_node(site, i), [&](const auto& graph, const auto& path) {
      if (cycle.empty()) cycle = find_cycle(graph.node(), names, path);
    });
  }
  return cycle;
}

// --- Operators -------------------------------------------------------------------------------------------------------

std::vector<OpCount> count_ops(const schema::ModelProto& model) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  for_each_node(model, [&counts](const schema::NodeProto& node, const NodeSite&) {
    ++counts[{std::string(onnx::canonical_domain(node.domain())), node.op_type()}];
  });
  std::vector<OpCount> ops;
  for (const auto& [op, count] : counts) ops.push_back({op.first, op.second, count});
  std::ranges::stable_sort(ops, std::ranges::greater(), &OpCount::nodes);
  return ops;
}

}  // namespace

Orders::Orders() : names_(std::make_unique<UsedNames>()) {}
Orders::~Orders() = default;

const std::vector<int>& Orders::of(const schema::GraphProto& graph) {
  const auto [order, added] = known_.try_emplace(&graph);
  if (added) order->second = order_of(graph.node(), *names_).nodes;
  return order->second;
}

std::string shape_text(const std::vector<Dimension>& dims, const std::function<std::string(const std::string&)>& name) {
  base::check_callable(name, "the function for names of dimensions");
  std::string text;
  for (const Dimension& dim : dims) {
    text += concat(text.empty() ? "" : ",", dim.value          ? std::to_string(*dim.value)
                                            : dim.name.empty() ? "?"
                                                               : name(dim.name));
  }
  return concat("[", text, "]");
}

GraphSummary summary_of_graph(const schema::ModelProto& model) {
  const schema::GraphProto& graph = model.graph();
  GraphSummary summary;
  summary.name = graph.name();
  const NameViews defaults = initialized(graph);
  for (const auto& input : graph.input()) {
    if (!defaults.contains(input.name())) summary.inputs.push_back(summary_of(input));
  }
  for (const auto& output : graph.output()) summary.outputs.push_back(summary_of(output));
  summary.nodes = static_cast<std::uint64_t>(graph.node_size());
  for_each_node(model, [&summary](const schema::NodeProto& node, const NodeSite& site) {
    ++summary.all_nodes;
    for_each_subgraph(node, site.path, [&summary](const auto&, const auto&) { ++summary.subgraphs; });
  });
  summary.ops = count_ops(model);
  UsedNames names;
  summary.depth = order_of(graph.node(), names).depth;
  summary.cycle = find_cycle(graph.node(), names, "graph");
  Scopes scopes(summary.dangling);
  scopes.graph(graph, "graph");
  for (int i = 0; i < model.functions_size(); ++i) {
    const auto& function = model.functions(i);
    const std::string site = concat("functions[", i, "]");
    scopes.nodes(function.node(), NameViews(function.input().begin(), function.input().end()), site);
    if (summary.cycle.empty()) summary.cycle = find_cycle(function.node(), names, site);
  }
  return summary;
}

}  // namespace onnxar
