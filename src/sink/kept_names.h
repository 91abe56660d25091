// The names of the entries that a new archive has besides the model's weights.
#pragma once

#include <vector>

#include "onnxar/options.h"
#include "sink/kept.h"

namespace onnxar {

/// Gives side files and graphs their new names. Errors: usage.argument (no file has the name; a side file would become
/// a graph, or a graph a side file).
void rename(Kept& kept, const std::vector<RenamedEntry>& renames);

/// Refuses names that the writer would refuse only after it has written all weights. Errors: zip.name.*,
/// archive.name.reserved.
void check_names(const Kept& kept);

}  // namespace onnxar
