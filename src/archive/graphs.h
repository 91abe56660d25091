// Finds the graphs of an archive, and walks their tensors. Errors name the place in the file.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/sites.h"
#include "onnxar/archive.h"

namespace onnxar {

/// Returns the entry of the archive's own model, which is its last one, also for a view of another graph.
inline ArchiveEntry own_model_entry(const Archive& archive) { return archive.entry(archive.size() - 1); }

/// Returns the first name of the archive's own model, even if no graph could have it; nothing if there is none. Throws
/// wire.* with the place in the file.
std::optional<std::string> name_of_model(const Archive& archive);

/// Returns the entry of the graph that a user calls `name`, as Archive::graph does; the model's entry if `name` is
/// empty; nothing if there is no such graph. Throws what `name_of_model` throws.
std::optional<ArchiveEntry> find_graph(const Archive& archive, std::string_view name);

/// Returns the name of the file of a graph: of the model, that of its own name; nothing if it has none. Throws what
/// `name_of_model` throws.
std::optional<std::string> file_of_graph(const Archive& archive, const ArchiveEntry& graph);

/// Returns the entries of the model and of the further graphs, in the order of the file after the model.
std::vector<ArchiveEntry> all_graphs(const Archive& archive);

/// Visits every tensor of the model or of a graph. Throws what Archive::bytes and onnx::walk_tensors throw.
void walk_graph(const Archive& archive, const ArchiveEntry& graph,
                const std::function<void(const onnx::TensorSite&)>& visit);

using GraphVisitor = std::function<void(const ArchiveEntry& graph, const onnx::TensorSite&)>;

/// Visits every tensor of all graphs, `archive.model_entry()` first. The other graphs may be broken: then the tensors
/// before the fault are visited. Returns the indices of the broken graphs. Used by listings and by edits that remove a
/// broken graph.
std::vector<std::size_t> walk_readable_graphs(const Archive& archive, const GraphVisitor& visit);

/// Visits every tensor of one graph up to the first fault of its format. Returns true if it has no fault.
bool walk_as_far_as_read(const Archive& archive, const ArchiveEntry& graph,
                         const std::function<void(const onnx::TensorSite&)>& visit);

}  // namespace onnxar
