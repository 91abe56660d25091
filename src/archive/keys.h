// Classifies entry names: keys, graphs, reserved names. `KeyMaker` (archive_writer.h) makes keys.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {

/// True if the format reserves the name: it begins with `__` and a capital (N13).
bool is_reserved_name(std::string_view name) noexcept;
/// Throws archive.name.reserved, at `place`, if the name is reserved or equals the model's name, ignoring ASCII case.
/// For entries other than the model.
void check_reserved(std::string_view name, const Place& place);
/// Throws usage.own_name if an entry has the name of the archive's own file: that name is the location of links to the
/// file (K8).
void refuse_own_name(const Archive& archive, const std::filesystem::path& file);
/// Does the same for the name of an entry that will be added.
void refuse_own_name(std::string_view name, const std::filesystem::path& file);
/// True if the name is a C identifier, as all keys are.
bool is_identifier(std::string_view name) noexcept;
/// True if an entry of this name counts as the data of a tensor even if no tensor names it: the name is a C identifier,
/// but not the usual name of a text beside a model, such as LICENSE. Side files have other names.
bool is_key(std::string_view name) noexcept;

/// True if an entry of this name is a graph other than the model: its last part is `NAME.onnx` (G1).
bool is_graph_name(std::string_view name) noexcept;
/// The suffix of graph names.
inline constexpr std::string_view graph_suffix = ".onnx";
/// Returns the name of a graph without that suffix, `decoder` for `decoder.onnx`, and other names unchanged.
std::string_view stem_of_graph(std::string_view name) noexcept;
/// Returns the name of a graph's entry: `decoder.onnx` for `decoder` and for `decoder.onnx`.
std::string graph_file_name(std::string_view name);

/// Returns the names of entries that a caller may mean by the name of a graph, the likeliest first: `unet` is
/// `unet.onnx` or `unet/model.onnx`.
std::array<std::string, 3> graph_file_names(std::string_view name);
/// Returns the folder of an entry's name, with `/` at its end; empty for a name in the root.
std::string_view folder_of_name(std::string_view name) noexcept;

/// Converts `name` to a key, ignoring clashes (W12). Bytes outside [A-Za-z0-9_] become `_`. A leading digit gets the
/// prefix `_`, and a reserved name or a device name of Windows the prefix `t_`. An empty name becomes `tensor`. The
/// result is truncated to 200 bytes.
std::string key_stem(std::string_view name);

}  // namespace onnxar
