// Finds the place of an output and checks that it may be written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/folder.h"
#include "onnxar/error.h"

namespace onnxar::base {

enum class Existing : std::uint8_t { refuse, replace };

/// Holds the place that a path leads to: a name in an open folder.
struct OutputTarget {
  std::filesystem::path path;
  std::shared_ptr<const Folder> folder;
  std::string name;
};

/// Follows symbolic links in user space, because the last one may lead to a file that does not exist yet. Refuses a
/// link that the kernel would not follow (os::may_follow_link). Throws io.not_found if there is no such folder,
/// io.permission and io.failed.
OutputTarget follow_links(std::filesystem::path path);

/// Makes all checks of an output that do not open anything for writing. Throws what `follow_links` and
/// `expect_writable` throw, and io.not_a_file if the path ends in `/`.
OutputTarget find_target(const std::filesystem::path& path, Existing existing);

/// Refuses a target that may not be written. Throws output.exists with Existing::refuse, io.not_a_file if a folder or
/// device has the name, and io.*.
void expect_writable(const OutputTarget& target, Existing existing);
/// Does the same for a path, without opening its folder. Does not follow a link at its end.
void expect_writable(const std::filesystem::path& path, Existing existing);

/// Returns the error output.exists.
Error already_exists(const std::filesystem::path& target);

}  // namespace onnxar::base
