// The names of a model's companions in a new archive.
#pragma once

#include <vector>

#include "onnxar/options.h"
#include "sink/archive_companions.h"

namespace onnxar {

/// Gives side files and graphs their new names. Errors: usage.argument (no file has the name; a side file would become
/// a graph, or a graph a side file).
void rename(ArchiveCompanions& companions, const std::vector<RenamedEntry>& renames);

/// Refuses names that the writer would refuse only after it has written all weights. Errors: zip.name.*,
/// archive.name.reserved, usage.argument (a key of a tensor).
void check_names(const ArchiveCompanions& companions);

}  // namespace onnxar
