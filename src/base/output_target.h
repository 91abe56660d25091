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

/// The place that a path leads to: a name in an open folder.
struct OutputTarget {
  std::filesystem::path path;
  std::shared_ptr<const Folder> folder;
  std::string name;
};

/// Follows symbolic links in user space, since the last one may lead to a file that does not exist yet. A link that the
/// kernel would not follow is refused (os::may_follow_link). Errors: io.not_found (no such folder), io.permission,
/// io.failed.
OutputTarget follow_links(std::filesystem::path path);

/// Makes all checks of an output that do not open anything for writing. Errors: as `follow_links` and
/// `expect_writable`; io.not_a_file (the path ends in `/`).
OutputTarget find_target(const std::filesystem::path& path, Existing existing);

/// Refuses a target that may not be written. Errors: output.exists (with Existing::refuse), io.not_a_file (a folder or
/// device has the name), io.*.
void expect_writable(const OutputTarget& target, Existing existing);
/// As above, for a path and without opening its folder. A link at its end is not followed.
void expect_writable(const std::filesystem::path& path, Existing existing);

/// Makes the error output.exists.
Error already_exists(const std::filesystem::path& target);

}  // namespace onnxar::base
