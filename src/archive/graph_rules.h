// Checks the names and the metadata of graphs (rules G of the specification).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// The key in metadata_props that names the model among the graphs of an archive.
inline constexpr std::string_view model_name_key = "onnxar.model.name";

/// The prefix of the keys in metadata_props that make a model a link to an archive (convert/links.h).
inline constexpr std::string_view link_key_prefix = "onnxar.link.";

/// Returns all names that the model has in its metadata, in the order of the file. Throws wire.*.
std::vector<std::string> model_names_of(Bytes model);

/// Returns the first name of the model, if it is a valid file name. Throws wire.*.
std::optional<std::string> model_name_of(Bytes model);

/// Returns why a graph cannot have this name, which ends in `.onnx` (G1, N1 to N17); nothing if it can.
std::optional<std::string> graph_name_fault(const std::string& name);

/// Returns the name of the entry that a loader of the unzipped archive opens for `location`: it looks in the folder of
/// the graph. Returns an empty name for a graph in the root, where the entry is `location` itself.
std::string name_beside(std::string_view graph, std::string_view location);

/// Returns the error for an entry `beside`, the result of `name_beside`, that exists (G6). `tensor` is the place of the
/// tensor in the graph.
Error shadow_error(std::string_view beside, std::string_view location, std::uint64_t tensor);

/// Describes a fault in `metadata_props`. `offset` is that of the field, from the graph's first byte.
struct MetadataFault {
  Code code;
  std::string message;
  std::uint64_t offset = 0;
};

/// Checks G3: a graph is not a link. Throws wire.*.
std::optional<MetadataFault> link_marker_fault(Bytes graph);

/// Checks G4: the model has at most one name, which does not clash with `names`, the names of the archive's entries.
/// Throws wire.*. Cost: O(fields of ModelProto itself), and O(entries) if the model has a name.
std::optional<MetadataFault> model_name_fault(Bytes model, std::span<const std::string_view> names);

/// Throws archive.graph.name, with `advice`, if the model's name breaks G4 in an archive with entries of these names.
/// `names` need not contain the keys of tensors, because a key never ends in `.onnx`. Also throws wire.*.
void expect_free_model_name(Bytes model, std::span<const std::string_view> names, const std::filesystem::path& archive,
                            const Advice& advice = {});

}  // namespace onnxar
