// Compares a file and the folders that lead to it with their state at an earlier time.
#include "base/path_state.h"

#include <algorithm>
#include <system_error>

#include "base/open_file.h"
#include "base/paths.h"
#include "onnxar/error.h"

namespace onnxar::base {
namespace {

namespace fs = std::filesystem;

/// Returns the states of the folders on the way to a file. Folders that cannot be examined have an empty status, now
/// and later.
std::vector<os::FileStatus> folders_of(const fs::path& file) {
  std::vector<os::FileStatus> found;
  for (fs::path folder = file; folder.has_relative_path();) {
    folder = folder.parent_path();
    std::error_code failed;
    const os::FileStatus status = os::status_of(folder, failed);
    found.push_back(failed ? os::FileStatus() : status);
  }
  return found;
}

/// True if the folder was not renamed. A rename changes only one of its times; a change of the names in it changes
/// both.
bool is_in_place(const os::FileStatus& before, const os::FileStatus& now) {
  return now.identity == before.identity && (now.changed == before.changed || now.changed == now.modified);
}

}  // namespace

PathState::PathState(const fs::path& path) : path_(real_path(path)), folders_(folders_of(path_)) {
  std::error_code failed;
  status_ = os::status_of(path_, failed);
  if (failed) throw system_error(failed, "cannot open", path);
}

bool PathState::holds() const {
  std::error_code failed;
  const os::FileStatus now = os::status_of(path_, failed);
  return !failed && now == status_ && std::ranges::equal(folders_, folders_of(path_), is_in_place);
}

void PathState::expect_same() const {
  if (holds()) return;
  throw Error(Code::io_changed,
              "the file was changed, or it or a folder of its path was replaced, since it was opened: open it again",
              {}, path_);
}

}  // namespace onnxar::base
