// Finds the graphs of an archive by their names, and walks their tensors.
#include "archive/graphs.h"

#include <cstddef>
#include <string>
#include <vector>

#include "archive/access.h"
#include "archive/evidence.h"
#include "archive/graph_rules.h"
#include "archive/keys.h"
#include "base/annotated.h"
#include "base/text.h"

namespace onnxar {
namespace {

using base::concat;

}  // namespace

std::optional<std::string> name_of_model(const Archive& archive) {
  const ArchiveEntry model = own_model_entry(archive);
  return base::annotated(Evidence{.archive = &archive, .graph = model}, [&] {
    const std::vector<std::string> names = model_names_of(archive.bytes(model));
    return names.empty() ? std::nullopt : std::optional(names.front());
  });
}

std::optional<ArchiveEntry> find_graph(const Archive& archive, std::string_view name) {
  const ArchiveEntry model = own_model_entry(archive);
  if (name.empty() || name == model_entry_name) return model;
  // `a.onnx` means the graph `a.onnx` if there is one; otherwise it may mean `a.onnx.onnx`.
  for (const std::string& file : graph_file_names(name)) {
    const auto entry = archive.find(file);
    if (entry && is_graph_name(file)) return entry;
    const auto own = name_of_model(archive);
    if (own && concat(*own, graph_suffix) == file) return model;
  }
  return std::nullopt;
}

std::optional<std::string> file_of_graph(const Archive& archive, const ArchiveEntry& graph) {
  if (graph.index + 1 != archive.size()) return std::string(graph.name);
  const auto own = name_of_model(archive);
  return own ? std::optional(concat(*own, graph_suffix)) : std::nullopt;
}

void walk_graph(const Archive& archive, const ArchiveEntry& graph,
                const std::function<void(const onnx::TensorSite&)>& visit) {
  const Bytes bytes = archive.bytes(graph);
  base::annotated(Evidence{.archive = &archive, .graph = graph}, [&] { onnx::walk_tensors(bytes, visit); });
}

std::vector<ArchiveEntry> all_graphs(const Archive& archive) {
  std::vector<ArchiveEntry> graphs = archive.graphs();
  graphs.insert(graphs.begin(), own_model_entry(archive));
  return graphs;
}

std::vector<std::size_t> walk_readable_graphs(const Archive& archive, const GraphVisitor& visit) {
  const ArchiveEntry model = archive.model_entry();
  walk_graph(archive, model, [&](const onnx::TensorSite& site) { visit(model, site); });
  std::vector<std::size_t> broken;
  for (const ArchiveEntry& graph : all_graphs(archive)) {
    if (graph.index == model.index) continue;
    const auto visit_here = [&](const onnx::TensorSite& site) { visit(graph, site); };
    if (!walk_as_far_as_read(archive, graph, visit_here)) broken.push_back(graph.index);
  }
  return broken;
}

bool walk_as_far_as_read(const Archive& archive, const ArchiveEntry& graph,
                         const std::function<void(const onnx::TensorSite&)>& visit) {
  try {
    onnx::walk_tensors(archive.bytes(graph), visit);
    return true;
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;  // a failed read says nothing about the graph
    return false;
  }
}

}  // namespace onnxar
