// Compares the side files of two archives, and their lists of graphs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/front_end.h"
#include "onnxar/archive.h"

namespace onnxar {

/// Returns the differences, sorted by name. `changed_graphs` are the further graphs of both that differ: comparing
/// their bytes is not enough, because they may refer to other data. Throws zip.local.*, zip.padding.* or wire.*. Cost:
/// O(models) + O(bytes of side files).
std::vector<FileChange> compare_side_files(const Archive& before, const Archive& after,
                                           const std::set<std::string>& changed_graphs);

/// Compares the CRC-32s of the archive's model, and of the entries whose data or bytes differ between the two models,
/// so that damage is not reported as a difference. Throws zip.data.crc, io.changed or what `compare_side_files` throws.
void expect_undamaged(const Archive& archive, const Difference& found);

}  // namespace onnxar
