// Detects that a file was changed or replaced, even if the old file was put back.
#pragma once

#include <filesystem>
#include <vector>

#include "os/file.h"

namespace onnxar::base {

/// Records the state of the file that a path leads to, and of the folders on the way. Replacing the file and putting it
/// back changes the times of the file, or those of a renamed folder. Immutable. Threads: any.
class PathState {
 public:
  /// Records the present state. Throws the io.* errors of opening the file.
  explicit PathState(const std::filesystem::path& path);

  /// Returns the path without links.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const os::FileStatus& status() const noexcept { return status_; }
  /// True if the path still leads to the unchanged file through the same folders, and no folder was renamed. Ignores
  /// names that others make in these folders.
  [[nodiscard]] bool holds() const;
  /// Throws io.changed unless `holds`.
  void expect_same() const;

 private:
  std::filesystem::path path_;
  os::FileStatus status_;
  std::vector<os::FileStatus> folders_;  // the innermost folder first
};

}  // namespace onnxar::base
