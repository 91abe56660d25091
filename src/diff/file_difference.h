// Side files of two archives, compared.
#pragma once

#include <filesystem>
#include <vector>

#include "onnxar/model/diff.h"
#include "onnxar/options.h"

namespace onnxar {

/// What differs between them, byte by byte, in the order of names; nothing unless both files are archives.
/// Errors: as Archive::open; zip.local.*, zip.padding.*; wire.*. Cost: O(models) + O(bytes of side files).
std::vector<FileChange> compare_side_files(const std::filesystem::path& before, const std::filesystem::path& after,
                                           const LoadOptions& load);

}  // namespace onnxar
