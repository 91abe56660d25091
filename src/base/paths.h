// Examines paths, and throws errors of this library.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "os/file.h"

namespace onnxar::base {

/// Returns the status of the file that a path leads to; nothing if it does not exist. Throws io.permission or io.failed
/// if it cannot be examined, so that a fault of the disk is not mistaken for a missing file.
std::optional<os::FileStatus> status_if_there(const std::filesystem::path& path);
/// True if both paths lead to the same file or folder. False if either does not exist. Throws what `status_if_there`
/// throws.
bool are_same(const std::filesystem::path& one, const std::filesystem::path& other);
/// True if the path leads to this open file. Throws what `status_if_there` throws.
bool leads_to(const std::filesystem::path& path, os::Handle file);
/// True if the path leads to a folder. Throws what `status_if_there` throws.
bool is_folder(const std::filesystem::path& path);

/// Returns the path without links, `.` and `..`. Throws the io.* errors of opening the file.
std::filesystem::path real_path(const std::filesystem::path& path);

/// The number of links after which a path counts as circular, as in Linux (MAXSYMLINKS).
inline constexpr int most_links = 40;

/// Returns the folder that contains a file; `.` for a name without a folder, since the empty path is not a folder.
inline std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// Returns the path of the folder that a caller names as `folder` or `folder/`, without the slash.
std::filesystem::path named_folder(const std::filesystem::path& folder);
/// Refuses an output folder if something else is at `path`, even a link that leads nowhere. Throws io.not_a_file.
void expect_no_file(const std::filesystem::path& path);
/// Returns the status of the path itself, not of the target of a link; its type is `not_found` if nothing has this
/// path. Throws io.*, for example if a folder of the path may not be searched.
std::filesystem::file_status link_status(const std::filesystem::path& path);
using EntryTest = std::function<bool(const std::filesystem::directory_entry&)>;
/// True if `test` is true for all that is in a folder. Asks nothing more after the first false. Throws io.*.
bool all_entries(const std::filesystem::path& folder, const EntryTest& test);
/// Returns what is in a folder, in any order. Throws io.*.
std::vector<std::filesystem::directory_entry> entries_in(const std::filesystem::path& folder);
/// Returns the absolute path, which need not exist. Throws io.* if the current folder was removed.
std::filesystem::path absolute_path(const std::filesystem::path& path);
/// Returns the system's folder for temporary files. Throws io.* if TMPDIR does not name a folder.
std::filesystem::path temporary_folder();

}  // namespace onnxar::base
