// What a key is; `KeyMaker` (archive_writer.h) hands them out.
#pragma once

#include <string>
#include <string_view>

namespace onnxar {

/// `__` and a capital: names that the format keeps for itself.
bool is_reserved_name(std::string_view name) noexcept;
/// A C identifier: what a key is, and what the name of a side file must not be.
bool is_identifier(std::string_view name) noexcept;

/// Whether an entry of this name is a further graph: `NAME.onnx` in the root (spec G1).
bool is_graph_name(std::string_view name) noexcept;
/// What those names end in.
inline constexpr std::string_view graph_suffix = ".onnx";

/// `name` as a key, before clashes are looked at: bytes outside [A-Za-z0-9_] become `_`, a leading digit gets `_` in
/// front, a reserved name or a device name of Windows gets `t_`, an empty name is `tensor`, all cut at 200 bytes.
std::string key_stem(std::string_view name);

}  // namespace onnxar
