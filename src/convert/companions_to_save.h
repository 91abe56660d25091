// Gathers the entries that are saved with a model.
#pragma once

#include <filesystem>

#include "convert/companions.h"
#include "convert/loaded_model.h"
#include "onnxar/options.h"

namespace onnxar {

/// The side files and graphs of `model`, then those of the archive at `options.side_files_of` whose names they do not
/// have, with the weights that these graphs name; then `options.add`, each in place of one of the same name; all under
/// the names that `options.rename` gives them. Errors: those of opening and reading the files; usage.argument (a side
/// file named like a tensor's key, a name to be replaced that no file has, a side file that would become a graph by its
/// new name, or a graph that would no longer be one); for archives zip.name.*, archive.name.reserved. Errors about new
/// names have the path `output`. The manifest gets `options.variants`.
ArchiveCompanions companions_to_save(const LoadedModel& model, const SaveOptions& options,
                                     const std::filesystem::path& output);

/// Maps a file that is added, unless its bytes are given. Errors: usage.argument (its name is that of a tensor's key);
/// io.*.
SideFile added_file(const AddedFile& added);

}  // namespace onnxar
