// Keeps a folder of files that only one user can change, and locks the files that a process works on.
#include "runtime/own_folder.h"

#include <cstdint>
#include <random>
#include <span>
#include <system_error>
#include <vector>

#include "base/annotated.h"
#include "base/open_file.h"
#include "base/paths.h"
#include "base/text.h"
#include "onnxar/bytes.h"
#include "os/error.h"
#include "os/folder.h"
#include "os/machine.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_shared(const fs::path& path) {
  throw Error(Code::io_permission,
              "belongs to another user, or others can write to it; they could change what sessions compute: change its "
              "owner, or remove their permission (chmod go-w)",
              {}, path);
}

[[noreturn]] void refuse_foreign(const fs::path& path) {
  throw Error(Code::output_exists, "is not a file of a stored model, and is not replaced: choose a different name", {},
              path);
}

void expect_own(const fs::path& path, os::Sticky sticky) {
  std::error_code failed;
  const bool is_shared = os::others_may_change(path, sticky, failed);
  if (failed) throw base::system_error(failed, "cannot examine", path);
  if (is_shared) refuse_shared(path);
}

void expect_folder(const fs::path& path) {
  if (base::is_folder(path)) return;
  throw Error(Code::io_not_a_file, "is not a folder; name a folder", {}, path);
}

/// Refuses a file that is not regular, not ours, or that others can change. Accepts zeros instead of the line, which a
/// crash of the system can leave in our file.
void expect_own(os::Handle file, std::uint64_t line_at, const fs::path& path) {
  base::examine(file, {}, path);
  std::error_code failed;
  const os::Ownership ownership = os::ownership_of(file, failed);
  if (failed) throw base::system_error(failed, "cannot examine", path);
  if (ownership == os::Ownership::other_owner || ownership == os::Ownership::other_writers) refuse_shared(path);
  std::string line(own_line.size(), '\0');
  const std::size_t size = os::read_fully_at(file, std::as_writable_bytes(std::span(line)), line_at, failed);
  if (failed) throw base::system_error(failed, "cannot read", path);
  const bool is_lost = line.find_first_not_of('\0') == std::string::npos;
  if (size != line.size() || (line != own_line && !is_lost)) refuse_foreign(path);
}

/// Writes a small new file.
std::error_code write_text(os::Handle file, std::string_view text) {
  std::error_code failed;
  const std::size_t size = os::write_at(file, 0, as_bytes(own_line), as_bytes(text), failed);
  if (!failed && size != own_line.size() + text.size()) failed = std::make_error_code(std::errc::no_space_on_device);
  return failed;
}

std::string with_random_end(const std::string& name) {
  std::random_device random;
  return base::concat(name, ".", random(), ".new");
}

/// Opens the file of a lock, and makes it if it is missing.
os::File open_lock(const OwnFolder& folder, const std::string& name) {
  const fs::path path = folder.path_of(name);
  os::File file = folder.folder()->open_own(name);
  // An empty file is new, or its maker is about to write the line or was killed before that.
  if (base::examine(file, {}, path).status.size != 0) {
    expect_own(file, 0, path);
  } else if (const std::error_code failed = write_text(file, {})) {
    throw base::system_error(failed, "cannot write", path);
  }
  return file;
}

/// True if the name, without following links, is that of the open file.
bool names(const OwnFolder& folder, const std::string& name, os::Handle file) {
  std::error_code failed, unknown;
  const os::FileStatus there = os::status_in(folder.folder()->handle(), os::path_of(name), failed);
  const os::FileStatus open = os::status_of(file, unknown);
  return !failed && !unknown && there.identity == open.identity;
}

}  // namespace

OwnFolder::OwnFolder(const fs::path& folder) : path_(base::real_path(folder)), folder_(base::Folder::open(path_)) {
  expect_own(path_, os::Sticky::refuse);
  expect_own(path_.parent_path(), os::Sticky::accept);
}

OwnFolder OwnFolder::make(const fs::path& folder) {
  std::vector<fs::path> missing;
  for (fs::path each = folder; !base::status_if_there(each) && each.has_relative_path(); each = each.parent_path()) {
    if (each.has_filename()) missing.push_back(each);
  }
  while (!missing.empty()) {
    expect_folder(base::folder_of(missing.back()));
    const auto above = base::Folder::open(base::folder_of(missing.back()));
    base::Folder::make(*above, missing.back().filename(), os::Users::owner);
    missing.pop_back();
  }
  expect_folder(folder);
  return OwnFolder(folder);
}

fs::path OwnFolder::path_of(const std::string& name) const { return path_ / os::path_of(name); }

os::File OwnFolder::open(const std::string& name, std::uint64_t line_at) const {
  std::error_code failed;
  os::File file = os::open_beneath(folder_->handle(), os::path_of(name), os::Links::refuse, failed);
  if (os::reason_of(failed) == os::Reason::not_found) return {};
  if (os::reason_of(failed) == os::Reason::too_many_links) refuse_foreign(path_of(name));  // a link
  if (failed) throw base::system_error(failed, "cannot open", path_of(name));
  expect_own(file, line_at, path_of(name));
  return file;
}

bool OwnFolder::owns(const std::string& name, std::uint64_t line_at) const {
  try {
    return open(name, line_at).valid();
  } catch (const Error&) {
    return false;
  }
}

std::string OwnFolder::recall(const std::string& name) const {
  constexpr std::size_t most = 1U << 20U;
  try {
    const os::File file = open(name);
    if (!file.valid()) return {};
    std::string text(most, '\0');
    std::error_code failed;
    text.resize(os::read_fully_at(file, std::as_writable_bytes(std::span(text)), own_line.size(), failed));
    return failed ? std::string() : text;
  } catch (const Error&) {
    return {};
  }
}

void OwnFolder::remember(const std::string& name, std::string_view text) const {
  try {
    if (const os::File before = open(name); before.valid() && recall(name) == text) return;
    const base::FolderHandle here = folder_->handle();
    const std::string fresh = with_random_end(name);
    std::error_code failed;
    const os::File file = os::create_new(here, os::path_of(fresh), failed, os::Users::owner);
    if (failed) return;
    failed = write_text(file, text);
    if (!failed) failed = os::rename_over(here, os::path_of(fresh), os::path_of(name));
    if (failed) remove(fresh);
  } catch (const Error&) {  // something else has the name, or the folder is gone
    return;
  }
}

OwnLock::OwnLock(const OwnFolder& folder, const std::string& name)
    : folder_(folder), name_(name + ".lock"), file_(open_lock(folder, name_)) {
  alone_.emplace(file_);  // before locking: a child would share the lock
  std::error_code failed;
  // Its holder may have removed the file just before.
  if (os::try_lock(file_, os::Lock::exclusive, failed) != os::Locking::done || !names(folder_, name_, file_)) {
    throw Error(Code::archive_busy, "another process stores the model now, or the file cannot be locked", {},
                folder_.path_of(name_));
  }
}

bool OwnLock::is_held() const { return names(folder_, name_, file_); }

}  // namespace onnxar
