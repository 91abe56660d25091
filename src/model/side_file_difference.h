// Compares the side files of two archives, and which graphs they have.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "model/front_end.h"
#include "onnxar/options.h"

namespace onnxar {

/// Returns the differences, sorted by name. `changed_graphs` are the further graphs of both that differ: their bytes do
/// not tell, as they may name other data. Errors: as Archive::open; zip.local.*, zip.padding.*; wire.*. Cost: O(models)
/// + O(bytes of side files).
std::vector<FileChange> compare_side_files(const std::filesystem::path& before, const std::filesystem::path& after,
                                           const LoadOptions& load, const std::set<std::string>& changed_graphs);

/// Compares the CRC-32s of the archive's model, and of the entries whose data or bytes are different in the two models:
/// damage is no difference. Errors: zip.data.crc, io.changed; as `compare_side_files`.
void expect_undamaged(const std::filesystem::path& path, const LoadOptions& load, const Difference& found);

}  // namespace onnxar
