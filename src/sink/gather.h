// Collects the entries of a new archive besides the model's weights.
#pragma once

#include <filesystem>

#include "onnxar/options.h"
#include "sink/side_files.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// The side files and graphs of `model`, then those of the archive at `options.side_files_of` whose names they do not
/// have, with the weights that these graphs name; then `options.add`, each in place of one of the same name; all under
/// the names that `options.rename` gives them. Errors: those of opening and reading the files; usage.argument (a side
/// file named like a tensor's key, a name to be replaced that no file has, a side file that would become a graph by its
/// new name, or the other way round); for archives zip.name.*, archive.name.reserved. Errors about new names name
/// `output`.
ArchiveCompanions companions_to_save(const LoadedModel& model, const SaveOptions& options,
                                     const std::filesystem::path& output);

}  // namespace onnxar
