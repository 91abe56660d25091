// Tells which entries of an archive are graphs.
#pragma once

#include <vector>

#include "onnxar/archive.h"

namespace onnxar {

/// The further graphs of the archive, without its model, in the order of the file. Cost: O(entries).
std::vector<ArchiveEntry> graph_entries(const Archive& archive);

}  // namespace onnxar
