// Finds the place of an output, and checks that it may be written.
#include "base/output_target.h"

#include <optional>
#include <system_error>

#include "base/open_file.h"
#include "base/paths.h"
#include "os/error.h"
#include "os/folder.h"
#include "os/names.h"

namespace onnxar::base {
namespace {

namespace fs = std::filesystem;

/// True if the name is a symbolic link. Throws io.permission and io.failed.
bool is_link(const Folder& folder, os::Handle here, const std::string& name) {
  std::error_code failed;
  const os::FileStatus status = os::status_in(here, os::path_of(name), failed);
  if (os::reason_of(failed) == os::Reason::not_found) return false;
  if (failed) throw system_error(failed, "cannot write", folder.path() / os::path_of(name));
  return status.kind == os::FileKind::link;
}

/// Returns the target of the link with this name; nothing if it is not a link. Throws io.permission.
std::optional<fs::path> link_target(const Folder& folder, const std::string& name) {
  const FolderHandle here = folder.handle();
  if (!is_link(folder, here, name)) return std::nullopt;
  std::error_code failed;
  const bool trusted = os::may_follow_link(here, os::path_of(name), failed);
  if (failed) throw system_error(failed, "cannot write", folder.path() / os::path_of(name));
  if (!trusted) {
    throw Error(Code::io_permission,
                "is a symbolic link that another user made in a world-writable folder, so it is not followed; choose a "
                "different output",
                {}, folder.path() / os::path_of(name));
  }
  fs::path held = os::read_link(here, os::path_of(name), failed);
  if (failed) throw system_error(failed, "cannot write", folder.path() / os::path_of(name));
  return held;
}

[[noreturn]] void refuse_folder(const fs::path& path) {
  throw Error(Code::io_not_a_file, "is a folder; name the file to write", {}, path);
}

/// Refuses a target that cannot be written. `status` and `failed` are the system's answer about it.
void check(const os::FileStatus& status, const std::error_code& failed, const fs::path& target, Existing existing) {
  if (failed) {
    if (failed == std::errc::no_such_file_or_directory) return;
    throw system_error(failed, "cannot write", target);
  }
  if (status.kind == os::FileKind::folder) refuse_folder(target);
  if (status.kind != os::FileKind::regular) {
    throw Error(Code::io_not_a_file, "is not a regular file and cannot be replaced; name a file", {}, target);
  }
  if (existing == Existing::refuse) throw already_exists(target);
}

}  // namespace

OutputTarget follow_links(fs::path path) {
  for (int i = 0; i < most_links; ++i) {
    OutputTarget target{path, Folder::open(folder_of(path)), os::text_of(path.filename())};
    const auto next = link_target(*target.folder, target.name);
    if (!next) return target;
    path = next->is_absolute() ? *next : folder_of(path) / *next;
  }
  throw system_error(std::make_error_code(std::errc::too_many_symbolic_link_levels), "cannot write", path);
}

OutputTarget find_target(const fs::path& path, Existing existing) {
  if (!path.has_filename()) refuse_folder(path);
  OutputTarget target = follow_links(path);
  expect_writable(target, existing);
  return target;
}

void expect_writable(const OutputTarget& target, Existing existing) {
  std::error_code failed;
  const os::FileStatus status = os::status_in(target.folder->handle(), os::path_of(target.name), failed);
  check(status, failed, target.path, existing);
}

void expect_writable(const fs::path& path, Existing existing) {
  std::error_code failed;
  const os::FileStatus status = os::link_status_of(path, failed);
  check(status, failed, path, existing);
}

Error already_exists(const fs::path& target) {
  return {Code::output_exists, "the output already exists", {}, target, {Hint::overwrite}};
}

}  // namespace onnxar::base
