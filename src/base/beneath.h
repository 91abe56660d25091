// Opening a file that must lie in a folder.
#pragma once

#include <filesystem>

#include "base/file_descriptor.h"

namespace onnxar::base {

/// Opens `relative` for reading, such that no step of the way leaves `folder`: neither `..`, nor an absolute path, nor
/// a symbolic link, also if somebody moves things about meanwhile (openat2 with RESOLVE_BENEATH; on kernels without it
/// one part at a time, following no link).
///
/// A link is followed where its target stays in the folder; one that leaves it is followed only if the real path of its
/// target lies in `second_folder`: caches keep a model and its data as links into one folder of blobs. Both folders are
/// real paths. Invalid if the way leaves them (errno EXDEV) or the file cannot be opened (errno says why).
FileDescriptor open_beneath(const std::filesystem::path& folder, const std::filesystem::path& second_folder,
                            const std::filesystem::path& relative);

/// Opens a folder beneath `folder` for looking up names in it; no link on the way is followed. Invalid if that cannot
/// be done: errno says why.
FileDescriptor open_folder_beneath(const FileDescriptor& folder, const std::filesystem::path& relative);

}  // namespace onnxar::base
