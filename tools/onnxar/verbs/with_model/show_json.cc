// Converts an inspection to JSON.
#include "verbs/with_model/show_json.h"

#include "shell/graph_totals_json.h"
#include "verbs/with_model/inspection_json.h"

namespace onnxar::tool {

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

}  // namespace onnxar::tool
