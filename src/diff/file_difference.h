// Compares the side files of two archives, and which graphs they have.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "onnxar/model/diff.h"
#include "onnxar/options.h"

namespace onnxar {

/// Returns the differences, sorted by name. `changed_graphs` are the further graphs of both that differ: their bytes do
/// not tell, as they may name other data. Empty unless both files are archives.
/// Errors: as Archive::open; zip.local.*, zip.padding.*; wire.*. Cost: O(models) + O(bytes of side files).
std::vector<FileChange> compare_side_files(const std::filesystem::path& before, const std::filesystem::path& after,
                                           const LoadOptions& load, const std::set<std::string>& changed_graphs);

}  // namespace onnxar
