// Summarises the main graph of a model: its interface, operators, depth and faults.
#include "inspect/graph_summary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "model/messages.h"
#include "model/order.h"
#include "model/walk.h"
#include "onnx/operators.h"

namespace onnxar {
namespace {

using base::concat;

// A caller may print one line per node, so one attribute must not fill a screen.
constexpr std::size_t most_values_listed = 16;
constexpr std::size_t longest_text_shown = 60;

std::string short_text(std::string_view text) {
  const bool cut = text.size() > longest_text_shown;
  return concat("\"", text.substr(0, longest_text_shown), cut ? "...\"" : "\"");
}

/// Returns the shortest text that parses to the same float. A stream would print 6 digits, in the program's locale.
std::string number(float value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}
std::string number(std::int64_t value) { return std::to_string(value); }

template <typename Values, typename Text>
std::string list(const Values& values, const Text& text_of) {
  std::string text = "[";
  std::size_t count = 0;
  for (const auto& value : values) {
    if (count != 0) text += ",";
    if (count++ == most_values_listed) {
      text += concat(" ... ", values.size(), " in all");
      break;
    }
    text += text_of(value);
  }
  return text + "]";
}

std::string text_of(const schema::TensorProto& tensor) {
  return to_string(type_of(tensor)) + list(tensor.dims(), [](std::int64_t dim) { return number(dim); });
}

std::string text_of(const schema::AttributeProto& attribute) {
  using Type = schema::AttributeProto;
  const auto graph = [](const auto& g) { return concat("graph ", short_text(g.name())); };
  const auto tensor = [](const auto& t) { return text_of(t); };
  const auto numbers = [](auto value) { return number(value); };
  // In a function's body, the value is an attribute of the call.
  if (!attribute.ref_attr_name().empty()) return concat("@", attribute.ref_attr_name());
  if (attribute.has_t()) return text_of(attribute.t());
  if (attribute.has_g()) return graph(attribute.g());
  if (attribute.has_sparse_tensor()) return concat("sparse ", text_of(attribute.sparse_tensor().values()));
  if (attribute.has_tp()) return "type";
  if (attribute.tensors_size() != 0) return list(attribute.tensors(), tensor);
  if (attribute.graphs_size() != 0) return list(attribute.graphs(), graph);
  if (attribute.sparse_tensors_size() != 0) {
    return list(attribute.sparse_tensors(), [&](const auto& s) { return concat("sparse ", text_of(s.values())); });
  }
  // Presence decides before `type`, because old models lack `type`. An empty list has only `type` to identify it.
  if (attribute.floats_size() != 0 || attribute.type() == Type::FLOATS) return list(attribute.floats(), numbers);
  if (attribute.ints_size() != 0 || attribute.type() == Type::INTS) {
    return list(attribute.ints(), [](std::int64_t value) { return number(value); });
  }
  if (attribute.strings_size() != 0 || attribute.type() == Type::STRINGS) {
    return list(attribute.strings(), [](const std::string& text) { return short_text(text); });
  }
  if (attribute.has_s()) return short_text(attribute.s());
  if (attribute.has_f()) return number(attribute.f());
  if (attribute.has_i()) return number(static_cast<std::int64_t>(attribute.i()));
  return "-";
}

constexpr std::size_t most_listed = 100;  // faults of one kind: a broken model may have one at each node

// --- Interface -------------------------------------------------------------------------------------------------------

std::string type_name(std::int32_t type) { return to_string(static_cast<DataType>(type)); }

/// Protobuf's parser bounds the depth of recursion.
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

// --- Dangling inputs -------------------------------------------------------------------------------------------------

/// Finds inputs whose names are not defined. Scopes are nested: a subgraph sees the names of the graphs around it.
class Scopes {
 public:
  void graph(const schema::GraphProto& graph, const std::string& site) {
    nodes(graph.node(), names_before_nodes(graph), site);
  }

  void nodes(const Nodes& nodes, NameViews names, const std::string& site) {
    // All outputs first: nodes that are out of order have no dangling inputs.
    for (const auto& node : nodes) names.insert(node.output().begin(), node.output().end());
    scopes_.push_back(std::move(names));
    for (int i = 0; i < nodes.size(); ++i) {
      const std::string path = site_of_node(site, i);
      for (const std::string& input : nodes[i].input()) use(input, path);
      for_each_subgraph(nodes[i], path, [this](const auto& subgraph, const auto& where) { graph(subgraph, where); });
    }
    scopes_.pop_back();
  }

  std::vector<DanglingInput> dangling() && { return std::move(dangling_); }

 private:
  void use(const std::string& name, const std::string& site) {
    if (name.empty() || dangling_.size() >= most_listed) return;
    const auto has = [&name](const NameViews& names) { return names.contains(name); };
    if (std::ranges::none_of(scopes_, has)) dangling_.push_back({site, name});
  }

  std::vector<DanglingInput> dangling_;
  std::vector<NameViews> scopes_;
};

// --- Operators -------------------------------------------------------------------------------------------------------

void count_nodes(const schema::ModelProto& model, GraphSummary& summary) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  for_each_node(model, [&](const schema::NodeProto& node, const Site&) {
    ++summary.all_nodes;
    ++counts[{std::string(onnx::canonical_domain(node.domain())), node.op_type()}];
    for_each_subgraph(node, {}, [&summary](const auto&, const auto&) { ++summary.subgraphs; });
  });
  for (const auto& [op, count] : counts) summary.ops.push_back({op.first, op.second, count});
  // Stable: equal counts remain sorted by name.
  std::ranges::stable_sort(summary.ops, std::ranges::greater(), &OpCount::nodes);
}

}  // namespace

NodeSummary summary_of(const schema::NodeProto& node, const Site& site) {
  NodeSummary summary;
  summary.site = site.text();
  summary.level = site.subgraphs();
  summary.op = node.op_type();
  summary.domain = onnx::canonical_domain(node.domain());
  summary.name = node.name();
  summary.inputs.assign(node.input().begin(), node.input().end());
  summary.outputs.assign(node.output().begin(), node.output().end());
  for (const auto& attribute : node.attribute()) summary.attributes.emplace_back(attribute.name(), text_of(attribute));
  return summary;
}

GraphSummary summary_of_graph(const schema::ModelProto& model) {
  const schema::GraphProto& graph = model.graph();
  GraphSummary summary;
  summary.name = graph.name();
  const NameViews defaults = names_of_initializers(graph);
  // Before IR version 4 every initializer is also an input. Listing them would hide the few that a caller must provide.
  for (const auto& input : graph.input()) {
    if (!defaults.contains(input.name())) summary.inputs.push_back(summary_of(input));
  }
  for (const auto& output : graph.output()) summary.outputs.push_back(summary_of(output));
  summary.nodes = static_cast<std::uint64_t>(graph.node_size());
  count_nodes(model, summary);
  Orders orders;
  summary.depth = orders.of(graph).depth;
  summary.cycle = orders.find_cycle(graph.node(), "graph", most_listed);
  Scopes scopes;
  scopes.graph(graph, "graph");
  for (int i = 0; i < model.functions_size(); ++i) {
    const auto& function = model.functions(i);
    const std::string site = concat("functions[", i, "]");
    scopes.nodes(function.node(), NameViews(function.input().begin(), function.input().end()), site);
    // One cycle proves that no order of the nodes exists.
    if (summary.cycle.empty()) summary.cycle = orders.find_cycle(function.node(), site, most_listed);
  }
  summary.dangling = std::move(scopes).dangling();
  return summary;
}

}  // namespace onnxar
