// Examines paths, and throws errors that name them.
#include "base/paths.h"

#include <system_error>

#include "base/open_file.h"
#include "onnxar/error.h"
#include "os/error.h"

namespace onnxar::base {

std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path real = os::real_path(path, failed);
  if (failed) throw system_error(failed, "cannot open", path);
  return real;
}

std::filesystem::file_status link_status(const std::filesystem::path& path) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, failed);
  if (status.type() == std::filesystem::file_type::none) throw system_error(failed, "cannot examine", path);
  return status;
}

bool all_entries(const std::filesystem::path& folder, const EntryTest& test) {
  std::error_code failed;
  std::filesystem::directory_iterator each(folder, failed);
  for (; !failed && each != std::filesystem::directory_iterator(); each.increment(failed)) {
    if (!test(*each)) return false;
  }
  if (failed) throw system_error(failed, "cannot list the folder", folder);
  return true;
}

std::vector<std::filesystem::directory_entry> entries_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::directory_entry> entries;
  all_entries(folder, [&entries](const std::filesystem::directory_entry& entry) {
    entries.push_back(entry);
    return true;
  });
  return entries;
}

std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path absolute = std::filesystem::absolute(path, failed);
  if (failed) throw system_error(failed, "cannot find", path);
  return absolute;
}

std::filesystem::path temporary_folder() {
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed) {
    throw system_error(failed, "cannot use the folder for temporary files (set TMPDIR to a folder)", {});
  }
  return folder;
}

std::optional<os::FileStatus> status_if_there(const std::filesystem::path& path) {
  std::error_code failed;
  const os::FileStatus status = os::status_of(path, failed);
  if (os::reason_of(failed) == os::Reason::not_found) return std::nullopt;
  if (failed) throw system_error(failed, "cannot examine", path);
  return status;
}

bool are_same(const std::filesystem::path& one, const std::filesystem::path& other) {
  const auto first = status_if_there(one);
  const auto second = status_if_there(other);
  return first && second && first->identity == second->identity;
}

bool leads_to(const std::filesystem::path& path, os::Handle file) {
  const auto there = status_if_there(path);
  std::error_code failed;
  const os::FileStatus status = os::status_of(file, failed);
  if (failed) throw system_error(failed, "cannot examine", path);
  return there && there->identity == status.identity;
}

bool is_folder(const std::filesystem::path& path) {
  const auto status = status_if_there(path);
  return status && status->kind == os::FileKind::folder;
}

std::filesystem::path named_folder(const std::filesystem::path& folder) {
  // `folder/` has the parent path `folder`; only the root is its own parent.
  return folder.has_filename() || folder == folder.root_path() ? folder : folder.parent_path();
}

void expect_no_file(const std::filesystem::path& path) {
  if (!std::filesystem::exists(link_status(path))) return;
  throw Error(Code::io_not_a_file, "is not a folder, but the output must be one", {}, path);
}

}  // namespace onnxar::base
