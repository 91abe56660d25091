// Converts the parts of an inspection to JSON.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "inspect/inspection.h"
#include "shell/json.h"
#include "shell/paths.h"

namespace onnxar {

/// For `object_of`, whose keys are texts or enums.
inline std::string to_string(const std::string& name) { return name; }

/// Keeps the last value of each name. An ordered object finds a key by linear search, and a hostile node may have 100
/// 000 attributes: hence the table.
template <typename Rows>
tool::Json object_of(const Rows& rows) {
  tool::Json::object_t object;
  std::map<std::string, std::size_t> places;
  for (const auto& [key, value] : rows) {
    const auto [place, added] = places.try_emplace(to_string(key), object.size());
    if (added) {
      object.tool::Json::object_t::Container::emplace_back(place->first, value);
    } else {
      (object.begin() + static_cast<std::ptrdiff_t>(place->second))->second = value;
    }
  }
  return object;
}

inline void to_json(tool::Json& json, const Dimension& dimension) {
  json = dimension.value ? tool::Json(*dimension.value) : text_or_null(dimension.name);
}

ONNXAR_JSON_OF(ValueSummary, name, type, shape);
ONNXAR_JSON_OF(OpsetSummary, domain, version);
ONNXAR_JSON_OF(FunctionSummary, domain, name, overload, inputs, outputs, nodes);
ONNXAR_JSON_OF(OpCount, domain, op, nodes);
ONNXAR_JSON_OF(DanglingInput, site, name);
ONNXAR_JSON_OF(GraphSummary, name, inputs, outputs, nodes, all_nodes, subgraphs, depth, cycle, dangling, ops);
ONNXAR_JSON_OF(OpCost, domain, op, nodes, multiply_adds);
ONNXAR_JSON_OF(UnknownCost, domain, op, nodes, reason, first_site);
inline void to_json(tool::Json& json, const CostTerm& term) {
  json = {{"coefficient", term.coefficient}, {"factors", tool::Json::array()}};
  for (const auto& [name, power] : term.factors) json["factors"].push_back({{"name", name}, {"power", power}});
}
ONNXAR_JSON_OF(SizeRange, name, least, most);
ONNXAR_JSON_OF(CostPolynomial, terms, sizes);
inline void to_json(tool::Json& json, const CostEstimate& cost) {
  const bool is_exact = cost.not_known.empty() && cost.in_subgraphs == 0;
  // Null where it is partial, so that no program takes a lower bound for the cost.
  json = {{"multiply_adds", is_exact ? tool::Json(cost.multiply_adds) : tool::Json()},
          {"at_least", cost.multiply_adds},
          {"in_subgraphs", cost.in_subgraphs},
          {"by_op", cost.by_op},
          {"not_known", cost.not_known},
          {"polynomial", cost.polynomial ? tool::Json(*cost.polynomial) : tool::Json()}};
}
ONNXAR_JSON_OF(TensorTotals, tensors, elements, bytes);
ONNXAR_JSON_OF(StorageSummary, file_bytes, model_bytes, inline_bytes, archived_bytes, external_bytes, side_bytes,
               padding_bytes, unused_bytes, graph_bytes);

inline void to_json(tool::Json& json, const LargeTensor& large) {
  json = large.tensor;
  json["bytes"] = large.bytes;
}

inline void to_json(tool::Json& json, const NodeSummary& node) {
  json = {{"site", node.site},
          {"op", node.op},
          {"domain", node.domain},
          {"name", node.name},
          {"inputs", node.inputs},
          {"outputs", node.outputs},
          {"attributes", object_of(node.attributes)}};
}

inline void to_json(tool::Json& json, const FileBlock& block) {
  json = {{"kind", block.kind}, {"offset", block.offset}, {"size", block.size}, {"name", block.name}};
  if (block.kind == BlockKind::data) json["dtype"] = block.type;
}

inline void to_json(tool::Json& json, const FileMap& map) {
  json = {{"path", tool::utf8_of(map.path)}, {"missing", map.missing}, {"size", map.size}, {"blocks", map.blocks}};
}

}  // namespace onnxar
