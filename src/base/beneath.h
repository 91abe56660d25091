// Opens files that must lie in a folder.
#pragma once

#include <filesystem>
#include <system_error>

#include "os/file.h"

namespace onnxar::base {

/// Opens `relative` for reading by a path that does not leave `folder` at any step: not by `..`, an absolute path or a
/// symbolic link, even if another process moves folders meanwhile (os::open_beneath).
///
/// Follows a link if its target stays in the folder. Follows a link that leaves it only if the real path of its target
/// lies in `second_folder`: caches keep a model and its data as links into one folder of blobs. Both folders are real
/// paths. If the file cannot be opened, sets `failed`; its reason is `outside` if the path leaves the folders.
os::File open_beneath(const std::filesystem::path& folder, const std::filesystem::path& second_folder,
                      const std::filesystem::path& relative, std::error_code& failed);

}  // namespace onnxar::base
