// Checks rules G of the specification: what graphs of an archive must hold beyond the rules for a model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "tensors/graph_entries.h"

namespace onnxar {

/// A breach in `metadata_props`. `offset` is the field's, from the graph's first byte.
struct MetadataFault {
  Code code;
  std::string message;
  std::uint64_t offset = 0;
};

/// Checks G3: a graph is not a link. Errors: wire.*.
std::optional<MetadataFault> link_marker_fault(Bytes graph);

/// Says why no graph can have this name (G1, N1 to N17); nothing if one can.
std::optional<std::string> graph_name_fault(const std::string& name);

/// The names of the entries of an archive, by index.
struct EntryNames {
  std::size_t count = 0;
  std::function<std::string_view(std::size_t)> name_of;
};

/// Checks G4: the model has at most one name, and its name clashes with none of `names`. Errors: wire.*. Cost: O(fields
/// of ModelProto itself), and O(entries) if the model has a name.
std::optional<MetadataFault> model_name_fault(Bytes model, const EntryNames& names);

/// Refuses a model whose name breaks G4 in an archive with entries of these names. `names` need not hold the keys of
/// tensors, as a key never ends in `.onnx`. Errors: archive.graph.name, with `advice`; wire.*.
void expect_free_model_name(Bytes model, std::span<const std::string_view> names, const std::filesystem::path& archive,
                            const Advice& advice = {});

/// All names that the model gives itself, in the order of the file. Errors: wire.*.
std::vector<std::string> model_names_of(Bytes model);

/// The first name of the model, if a file can have it. Errors: wire.*.
std::optional<std::string> model_name_of(Bytes model);

}  // namespace onnxar
