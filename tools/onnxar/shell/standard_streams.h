// Converts models from the standard input, and writes bytes to the standard output.
#pragma once

#include <filesystem>

#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar::tool {

/// Calls `pack` or `unpack`, by the format. An input of `-` is the standard input, whose external data is in the
/// working folder by default.
ConvertReport convert_input(const std::filesystem::path& input, const std::filesystem::path& output,
                            const SaveOptions& save, LoadOptions load);

/// Writes all bytes to the standard output, without a buffer. Throws io.failed; io.changed (the bytes are in a file
/// that was shortened).
void write_to_stdout(Bytes bytes);

}  // namespace onnxar::tool
