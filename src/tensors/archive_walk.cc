#include "tensors/archive_walk.h"

#include <string>
#include <utility>
#include <vector>

#include "archive/changed.h"
#include "base/errors.h"

namespace onnxar {
onnx::TensorView view_of(const TensorMessage& message) {
  onnx::TensorView tensor;
  tensor.name = message.name;
  tensor.type = message.type;
  tensor.dims.reserve(message.dims.size());
  for (const std::int64_t dim : message.dims) add_dim(tensor, static_cast<std::uint64_t>(dim), 0);
  check_product(tensor);
  if (message.raw_data) tensor.raw_data = wire::Range{0, message.raw_data->size()};
  tensor.typed_data = message.typed_data;
  for (const auto& [key, value] : message.external_data) tensor.external.add(key, value, 0);
  return tensor;
}

namespace {

void walk_graph(const Archive& archive, const ArchiveEntry& graph, const LoadOptions& options,
                const std::function<void(const onnx::TensorSite&)>& visit) {
  const Bytes bytes = archive.bytes(graph);
  try {
    onnx::walk_tensors(bytes, visit, {options.max_depth});
  } catch (const Error& error) {
    throw with_place_in(error, archive, graph);
  }
}

}  // namespace

void walk_archive(const Archive& archive, const LoadOptions& options,
                  const std::function<void(const onnx::TensorSite&)>& visit) {
  walk_graph(archive, archive.model_entry(), options, visit);
}

void walk_all_graphs(const Archive& archive, const LoadOptions& options,
                     const std::function<void(const ArchiveEntry& graph, const onnx::TensorSite&)>& visit) {
  std::vector<ArchiveEntry> graphs = archive.graphs();
  graphs.insert(graphs.begin(), archive.entry(archive.size() - 1));
  for (const ArchiveEntry& graph : graphs) {
    walk_graph(archive, graph, options, [&](const onnx::TensorSite& site) { visit(graph, site); });
  }
}

bool read_as_far_as_possible(const Archive& archive, const ArchiveEntry& graph, const LoadOptions& options,
                             const std::function<void(const onnx::TensorSite&)>& visit) {
  try {
    onnx::walk_tensors(archive.bytes(graph), visit, {options.max_depth});
    return true;
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;  // a failed read says nothing about the graph
    return false;
  }
}

Error with_place_in(const Error& error, const Archive& archive) {
  return with_place_in(error, archive, archive.model_entry());
}

Error with_place_in(const Error& error, const Archive& archive, const ArchiveEntry& graph) {
  if (!error.path().empty() || !error.entry().empty()) return error;
  const std::uint64_t begin = archive.locate(graph).offset;
  const base::Annotation added{.entry = std::string(graph.name), .base = begin, .path = archive.path()};
  // An edit may have overwritten the mapped graph. Then the bytes are a mixture, and the fault is not in the model.
  return with_model_change(base::annotate(error, added), archive);
}

}  // namespace onnxar
