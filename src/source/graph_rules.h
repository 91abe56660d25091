// Rules for the graphs of an archive (spec, G) that go beyond the rules for a model.
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

namespace onnxar {

/// The key in the model's metadata_props that gives the model a name if an archive has several graphs.
inline constexpr std::string_view model_name_key = "onnxar.model.name";

/// A breach in `metadata_props`; the offset is that of the field, from the graph's first byte.
struct MetadataFault {
  Code code;
  std::string message;
  std::uint64_t offset = 0;
};

/// G3: a graph is not a link. Errors: wire.*.
std::optional<MetadataFault> link_marker_fault(Bytes graph);

/// The names of the entries of an archive, by index.
struct EntryNames {
  std::size_t count = 0;
  std::function<std::string_view(std::size_t)> name_of;
};

/// G4: the model has one name at most, and no entry has it already. Errors: wire.*. Cost: O(fields of ModelProto
/// itself), and O(entries) if there is a name.
std::optional<MetadataFault> model_name_fault(Bytes model, const EntryNames& names);

/// Refuses a model whose name is not one that the model of an archive with entries of these names can have. Keys of
/// tensors clash with no name. Errors: archive.graph.name, with `advice`; wire.*.
void expect_free_model_name(Bytes model, std::span<const std::string_view> names, const std::filesystem::path& archive,
                            const Advice& advice = {});

/// The values of the key, in the order of the file. Errors: wire.*.
std::vector<std::string> model_names_of(Bytes model);

/// The model's name, if a file can have it. Errors: wire.*.
std::optional<std::string> model_name_of(Bytes model);

}  // namespace onnxar
