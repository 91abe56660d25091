// Converts an inspection to JSON.
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shell/graph_totals.h"
#include "shell/json.h"
#include "shell/paths.h"
#include "verbs/with_model/show_text.h"

namespace onnxar {
namespace {

using tool::Json;

std::string to_string(const std::string& name) { return name; }

/// Keeps the last value of each name. An ordered object finds a key by linear search, and a hostile node may have 100
/// 000 attributes: hence the table.
template <typename Rows>
Json object_of(const Rows& rows) {
  Json::object_t object;
  std::map<std::string, std::size_t> places;
  for (const auto& [key, value] : rows) {
    const auto [place, added] = places.try_emplace(to_string(key), object.size());
    if (added) {
      object.Json::object_t::Container::emplace_back(place->first, value);
    } else {
      (object.begin() + static_cast<std::ptrdiff_t>(place->second))->second = value;
    }
  }
  return object;
}

}  // namespace

inline void to_json(Json& json, const Dimension& dimension) {
  json = dimension.value ? Json(*dimension.value) : text_or_null(dimension.name);
}

ONNXAR_JSON_OF(ValueSummary, name, type, shape);
ONNXAR_JSON_OF(OpsetSummary, domain, version);
ONNXAR_JSON_OF(FunctionSummary, domain, name, overload, inputs, outputs, nodes);
ONNXAR_JSON_OF(OpCount, domain, op, nodes);
ONNXAR_JSON_OF(DanglingInput, site, name);
ONNXAR_JSON_OF(GraphSummary, name, inputs, outputs, nodes, all_nodes, subgraphs, depth, cycle, dangling, ops);
ONNXAR_JSON_OF(OpCost, domain, op, nodes, multiply_adds);
ONNXAR_JSON_OF(UnknownCost, domain, op, nodes, reason, first_site);
inline void to_json(Json& json, const CostTerm& term) {
  json = {{"coefficient", term.coefficient}, {"factors", Json::array()}};
  for (const auto& [name, power] : term.factors) json["factors"].push_back({{"name", name}, {"power", power}});
}
ONNXAR_JSON_OF(SizeRange, name, least, most);
ONNXAR_JSON_OF(CostPolynomial, terms, sizes);
inline void to_json(Json& json, const CostEstimate& cost) {
  const bool is_exact = cost.not_known.empty() && cost.in_subgraphs == 0;
  // Null where it is partial, so that no program takes a lower bound for the cost.
  json = {{"multiply_adds", is_exact ? Json(cost.multiply_adds) : Json()},
          {"at_least", cost.multiply_adds},
          {"in_subgraphs", cost.in_subgraphs},
          {"by_op", cost.by_op},
          {"not_known", cost.not_known},
          {"polynomial", cost.polynomial ? Json(*cost.polynomial) : Json()}};
}
ONNXAR_JSON_OF(TensorTotals, tensors, elements, bytes);
ONNXAR_JSON_OF(StorageSummary, file_bytes, model_bytes, inline_bytes, archived_bytes, external_bytes, side_bytes,
               padding_bytes, unused_bytes, graph_bytes);

inline void to_json(Json& json, const LargeTensor& large) {
  json = large.tensor;
  json["bytes"] = large.bytes;
}

inline void to_json(Json& json, const NodeSummary& node) {
  json = {{"site", node.site},
          {"op", node.op},
          {"domain", node.domain},
          {"name", node.name},
          {"inputs", node.inputs},
          {"outputs", node.outputs},
          {"attributes", object_of(node.attributes)}};
}

inline void to_json(Json& json, const FileBlock& block) {
  json = {{"kind", block.kind}, {"offset", block.offset}, {"size", block.size}, {"name", block.name}};
  if (block.kind == BlockKind::data) json["dtype"] = block.type;
}

inline void to_json(Json& json, const FileMap& map) {
  json = {{"path", tool::utf8_of(map.path)}, {"missing", map.missing}, {"size", map.size}, {"blocks", map.blocks}};
}

namespace tool {

Json inspection_as_json(const Inspection& inspection, const std::string& path, bool with_nodes) {
  Json document;
  document["path"] = path;
  document["form"] = inspection.form;
  document["producer"] = {{"name", inspection.producer_name}, {"version", inspection.producer_version}};
  document["domain"] = inspection.domain;
  document["model_version"] = inspection.model_version;
  document["doc_string"] = inspection.doc_string;
  document["ir_version"] = inspection.ir_version;
  document["opsets"] = inspection.opsets;
  document["metadata"] = Json::array();
  for (const auto& [key, value] : inspection.metadata) document["metadata"].push_back({{"key", key}, {"value", value}});
  document["graph"] = inspection.graph;
  document["functions"] = inspection.functions;
  document["training_infos"] = inspection.training_infos;
  document["parameters"] = inspection.parameters;
  document["statistics"] = inspection.statistics;
  document["tensors"] = inspection.tensors;
  document["by_type"] = object_of(inspection.by_type);
  document["by_site"] = object_of(inspection.by_site);
  document["largest"] = inspection.largest;
  document["cost"] = inspection.cost;
  document["storage"] = inspection.storage;
  document["graphs"] = inspection.graphs;
  document["files"] = inspection.files;
  document["remarks"] = inspection.remarks;
  // Only on request, as in the text: nodes take far more space than the rest of the summary.
  if (with_nodes) document["nodes"] = inspection.nodes;
  return document;
}

}  // namespace tool
}  // namespace onnxar
