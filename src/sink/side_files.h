// Side files that are written with a model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/options.h"
#include "source/companions.h"

namespace onnxar {

/// Maps a file that is added, unless its bytes are given. Errors: usage.argument (its name is that of a tensor's key);
/// io.*.
SideFile added_file(const AddedFile& added);

/// Excludes the names of side files, and of their folders, from the keys.
void reserve_names(KeyMaker& keys, const std::vector<SideFile>& side_files);

/// The total size of all side files.
std::uint64_t size_of(const std::vector<SideFile>& side_files);

/// Limits the number of folders by the size of the files and their names: each folder takes a block of the disk, and
/// a name of a thousand bytes can need five hundred of them. 4096 folders are always allowed. Errors:
/// zip.limit.folders, at the file that needs the first folder too many, in `output`. Cost: O(bytes of the names *
/// log(files)).
void check_folders(const std::vector<SideFile>& files, const std::filesystem::path& output);

}  // namespace onnxar
