// Compares the side files of two archives.
#pragma once

#include <filesystem>
#include <vector>

#include "onnxar/model/diff.h"
#include "onnxar/options.h"

namespace onnxar {

/// Returns the differences, sorted by name. Empty unless both files are archives.
/// Errors: as Archive::open; zip.local.*, zip.padding.*; wire.*. Cost: O(models) + O(bytes of side files).
std::vector<FileChange> compare_side_files(const std::filesystem::path& before, const std::filesystem::path& after,
                                           const LoadOptions& load);

}  // namespace onnxar
