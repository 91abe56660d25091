// Packs what ONNX Runtime wrote of a model into an archive from which later sessions start.
#pragma once

#include <filesystem>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar {

inline constexpr std::string_view about_entry = "about", data_entry = "data";

/// Returns true if the model in the file has the inputs and outputs of `original`, as callers of a session see them.
/// Throws io.failed if it was truncated before its graph, as on a full disk, and wire.*.
bool has_ends_of(const std::filesystem::path& written, Bytes original);

/// Packs the files `model.onnx` and `data` of a folder, with `about` as the first entry. Throws io.*, and wire.* or
/// onnx.* if the model is not what ONNX Runtime writes.
void pack_stored(const std::filesystem::path& folder, const std::filesystem::path& archive, std::string_view about);

}  // namespace onnxar
