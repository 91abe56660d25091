// Side files that are written with a model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/options.h"
#include "source/other_entries.h"

namespace onnxar {

/// Maps a file that is added. Errors: usage.argument (its name is that of a tensor's key); io.*.
SideFile added_file(const AddedFile& added);

/// Excludes the name of an entry from the keys. A key has no slash, so it can only clash with a whole name or with the
/// first folder of one.
void reserve_name(KeyMaker& keys, std::string_view entry);
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
