#include "graph/node_list.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "onnx/domains.h"
#include "onnx/site_text.h"
#include "onnxar/tensor.h"

namespace onnxar {
namespace {

using base::concat;

constexpr std::size_t most_printed_values = 16;
constexpr std::size_t most_characters = 60;

std::string short_text(std::string_view text) {
  const bool cut = text.size() > most_characters;
  return concat("\"", text.substr(0, most_characters), cut ? "...\"" : "\"");
}

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
    if (count++ == most_printed_values) {
      text += concat(" ... ", values.size(), " in all");
      break;
    }
    text += text_of(value);
  }
  return text + "]";
}

std::string text_of(const schema::TensorProto& tensor) {
  return to_string(static_cast<DataType>(tensor.data_type())) +
         list(tensor.dims(), [](std::int64_t dim) { return number(dim); });
}

std::string text_of(const schema::AttributeProto& attribute) {
  using Type = schema::AttributeProto;
  const auto graph = [](const auto& g) { return concat("graph ", short_text(g.name())); };
  const auto tensor = [](const auto& t) { return text_of(t); };
  const auto numbers = [](auto value) { return number(value); };
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

/// `.attr.body`, or `.attribute[2]` where the name is no identifier.
std::string attribute_path(const schema::AttributeProto& attribute, int index) {
  const std::string_view name = onnx::name_for_path(attribute.name());
  return name.empty() ? concat(".attribute[", index, "]") : concat(".attr.", name);
}

}  // namespace

std::string site_in(std::string site, std::string_view step) {
  onnx::append_step(site, step);
  return site;
}

std::string site_of_node(const std::string& owner, int index) { return site_in(owner, concat(".node[", index, "]")); }

void for_each_subgraph(const schema::NodeProto& node, const std::string& site,
                       const std::function<void(const schema::GraphProto&, const std::string& site)>& visit) {
  for (int i = 0; i < node.attribute_size(); ++i) {
    const schema::AttributeProto& attribute = node.attribute(i);
    if (!attribute.has_g() && attribute.graphs_size() == 0) continue;
    const std::string path = site_in(site, attribute_path(attribute, i));
    if (attribute.has_g()) visit(attribute.g(), path);
    for (int j = 0; j < attribute.graphs_size(); ++j) visit(attribute.graphs(j), site_in(path, concat("[", j, "]")));
  }
}

void for_each_node(const google::protobuf::RepeatedPtrField<schema::NodeProto>& nodes, const NodeSite& owner,
                   const std::function<void(const schema::NodeProto&, const NodeSite&)>& visit) {
  for (int i = 0; i < nodes.size(); ++i) {
    const NodeSite site{site_of_node(owner.path, i), owner.level};
    visit(nodes[i], site);
    for_each_subgraph(nodes[i], site.path, [&](const schema::GraphProto& graph, const std::string& path) {
      for_each_node(graph.node(), {path, owner.level + 1}, visit);
    });
  }
}

void for_each_node(const schema::ModelProto& model,
                   const std::function<void(const schema::NodeProto&, const NodeSite&)>& visit) {
  for_each_node(model.graph().node(), {"graph", 0}, visit);
  for (int i = 0; i < model.training_info_size(); ++i) {
    const std::string path = concat("training_info[", i, "].");
    for_each_node(model.training_info(i).initialization().node(), {path + "initialization", 0}, visit);
    for_each_node(model.training_info(i).algorithm().node(), {path + "algorithm", 0}, visit);
  }
  for (int i = 0; i < model.functions_size(); ++i) {
    for_each_node(model.functions(i).node(), {concat("functions[", i, "]"), 0}, visit);
  }
}

NodeSummary summary_of(const schema::NodeProto& node, const NodeSite& site) {
  NodeSummary summary;
  summary.site = site.path;
  summary.level = site.level;
  summary.op = node.op_type();
  summary.domain = onnx::canonical_domain(node.domain());
  summary.name = node.name();
  summary.inputs.assign(node.input().begin(), node.input().end());
  summary.outputs.assign(node.output().begin(), node.output().end());
  for (const auto& attribute : node.attribute()) summary.attributes.emplace_back(attribute.name(), text_of(attribute));
  return summary;
}

}  // namespace onnxar
