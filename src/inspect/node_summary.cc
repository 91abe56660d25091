#include "inspect/node_summary.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "onnx/domains.h"
#include "proto/messages.h"

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

}  // namespace onnxar
