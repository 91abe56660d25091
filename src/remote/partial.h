// Downloads graphs of an archive, with the entries that they need.
#pragma once

#include <filesystem>
#include <string_view>

#include "onnxar/remote.h"

namespace onnxar {

/// Does what `get` does for GetOptions::graphs. The part file is a sparse copy of the server's file, with the ranges
/// that were read; `pack` reads it.
GetReport get_graphs(std::string_view address, const std::filesystem::path& output, const GetOptions& options);

}  // namespace onnxar
