// The entries of an archive that are graphs.
#pragma once

#include <vector>

#include "onnxar/archive.h"

namespace onnxar {

/// The graphs of the archive apart from its model, in the order of the file.
std::vector<ArchiveEntry> graph_entries(const Archive& archive);

}  // namespace onnxar
