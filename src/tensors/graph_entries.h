// Finds the graphs of an archive by their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "onnxar/archive.h"

namespace onnxar {

/// The key in metadata_props that names the model among the graphs of an archive.
inline constexpr std::string_view model_name_key = "onnxar.model.name";

/// The name of the archive's own model among the graphs, as its metadata has it, even if no graph could have it;
/// nothing if there is none. Errors: wire.*, naming the place.
std::optional<std::string> name_of_model(const Archive& archive);

/// The entry of the graph that a user calls `name`, as Archive::graph; the model's if `name` is empty. Nothing if there
/// is no such graph. Errors: those of reading the model's metadata.
std::optional<ArchiveEntry> find_graph(const Archive& archive, std::string_view name);

}  // namespace onnxar
