// Words the totals of each graph of an archive.
#include "shell/graph_totals.h"

#include "onnxar/error.h"
#include "shell/numbers.h"

namespace onnxar::tool {

std::string numbers_of(const GraphTotals& graph) {
  const std::string shared = graph.shared_bytes == 0 ? "" : " (" + short_size(graph.shared_bytes) + " of them shared)";
  return grouped(graph.parameters, ",") + (graph.parameters == 1 ? " parameter" : " parameters") + ", weights " +
         short_size(graph.weight_bytes) + shared + ", model " + short_size(graph.model_bytes);
}

std::string text_of(const GraphTotals& graph) {
  return (graph.name.empty() ? "(model)" : escaped(graph.name)) + ": " + numbers_of(graph);
}

}  // namespace onnxar::tool
