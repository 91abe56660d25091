// Notices that a file was changed or replaced, even if the old file was put back.
#pragma once

#include <filesystem>
#include <vector>

#include "os/file.h"

namespace onnxar::base {

/// The file that a path leads to, and the folders on the way. Replacing the file and putting it back changes the times
/// of the file, or those of a folder that was renamed. Immutable. Threads: any.
class PathState {
 public:
  /// Errors: io.*, as for opening the file.
  explicit PathState(const std::filesystem::path& path);

  /// The path without links.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const os::FileStatus& status() const noexcept { return status_; }
  /// True if the path still leads to the file, unchanged, through the same folders, and none was renamed. Names
  /// that others make in these folders do not count.
  [[nodiscard]] bool holds() const;
  /// Throws io.changed unless `holds`.
  void expect_same() const;

 private:
  std::filesystem::path path_;
  os::FileStatus status_;
  std::vector<os::FileStatus> folders_;  // from the innermost one on
};

}  // namespace onnxar::base
