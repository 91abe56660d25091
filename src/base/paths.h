// Calls of std::filesystem on paths, with errors of this library.
#pragma once

#include <filesystem>

#include "base/open_file.h"

namespace onnxar::base {

/// The number of links after which a path is taken for a circle, as by Linux (MAXSYMLINKS).
inline constexpr int most_links = 40;

/// The status of the path itself, not of the target of a link; its type is `not_found` if nothing has this path.
/// Errors: io.*, for example if a folder of the path may not be searched.
inline std::filesystem::file_status link_status(const std::filesystem::path& path) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, failed);
  if (status.type() == std::filesystem::file_type::none) throw system_error(failed, "cannot examine", path);
  return status;
}

/// The folder that contains a file; `.` for a name without a folder, since the empty path is not a folder.
inline std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// The path from the root. It need not exist. Errors: io.* (the current folder was removed).
inline std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path absolute = std::filesystem::absolute(path, failed);
  if (failed) throw system_error(failed, "cannot find", path);
  return absolute;
}

/// The system's folder for temporary files. Errors: io.* (TMPDIR does not name a folder).
inline std::filesystem::path temporary_folder() {
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed) {
    throw system_error(failed, "cannot use the folder for temporary files (set TMPDIR to a folder)", {});
  }
  return folder;
}

}  // namespace onnxar::base
