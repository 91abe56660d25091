// Downloads one graph of an archive, with the entries that it needs.
#pragma once

#include <filesystem>
#include <string_view>

#include "onnxar/remote.h"

namespace onnxar {

/// Does what `get` does for GetOptions::graph. The part file is a sparse copy of the server's file, with the ranges
/// that were read; `pack` reads it.
GetReport get_graph(std::string_view address, const std::filesystem::path& output, const GetOptions& options);

}  // namespace onnxar
