// Kinds of entry names: keys, graphs, reserved names. `KeyMaker` (archive_writer.h) makes keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onnxar/error.h"

namespace onnxar {

/// Whether the format reserves the name: it begins with `__` and a capital (N13).
bool is_reserved_name(std::string_view name) noexcept;
/// Refuses reserved names, and the model's in any case, for entries that are not the model.
/// Errors: archive.name.reserved, at `place`.
void check_reserved(std::string_view name, const Place& place);
/// Whether the name is a C identifier. Keys are, and the names of side files are not.
bool is_identifier(std::string_view name) noexcept;

/// Whether an entry of this name is a further graph: `NAME.onnx` in the root (G1).
bool is_graph_name(std::string_view name) noexcept;
/// The end of those names.
inline constexpr std::string_view graph_suffix = ".onnx";

/// `name` as a key, except for clashes (W12): bytes outside [A-Za-z0-9_] become `_`, a leading digit gets `_` in front,
/// a reserved name or a device name of Windows gets `t_`, an empty name becomes `tensor`, and all is cut at 200 bytes.
std::string key_stem(std::string_view name);

/// Why a model is larger than `model_size_maximum`: `the model is 2.5 GiB, and protobuf reads less than 2 GiB`, for
/// `the model is`.
std::string oversize_text(std::string_view subject_and_verb, std::uint64_t size);

}  // namespace onnxar
