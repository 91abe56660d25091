// Gathers the entries that are saved with a model.
#pragma once

#include <filesystem>

#include "convert/companions.h"
#include "convert/loaded_model.h"
#include "onnxar/options.h"

namespace onnxar {

/// Returns the side files and graphs of `model`; then those of the archive at `options.side_files_of` with other names,
/// and the weights that these graphs name; then `options.add`, each replacing a file of the same name. Applies
/// `options.rename` to all, and adds `options.variants` to the manifest. Throws what opening and reading the files
/// throws; usage.argument if a side file is named like a tensor's key, if no file has a name to be renamed, or if a new
/// name would turn a side file into a graph or a graph into a side file; for archives also zip.name.* and
/// archive.name.reserved. Errors about new names have the path `output`.
ArchiveCompanions companions_to_save(const LoadedModel& model, const SaveOptions& options,
                                     const std::filesystem::path& output);

/// Maps an added file, unless its bytes are in memory. Throws usage.argument if it is named like a tensor's key, and
/// io.*.
SideFile added_file(const AddedFile& added);

}  // namespace onnxar
