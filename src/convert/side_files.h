// Files that go along with a model into an archive.
#pragma once

#include <vector>

#include "convert/loaded_model.h"
#include "onnxar/options.h"

namespace onnxar {

/// `files`, then those side files of the archive at `options.side_files_of` whose names they do not have, then
/// `options.add`, each in place of one of the same name; all under the names that `options.rename` gives them. Errors:
/// those of opening the files; usage.argument (a side file named like a tensor's key, a name to be replaced that no
/// file has); for archives zip.name.*, archive.name.reserved.
std::vector<SideFile> side_files_to_save(std::vector<SideFile> files, const SaveOptions& options);

/// Refuses files that would be in more folders than their names and bytes are worth: a folder takes a block of the
/// disk, and a name of a thousand bytes may ask for five hundred. 4096 are always allowed.
/// Errors: zip.limit.folders. Cost: O(bytes of the names * log(files)).
void check_folders(const std::vector<SideFile>& files);

}  // namespace onnxar
