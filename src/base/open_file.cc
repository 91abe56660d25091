// Opens, examines, reads and locks files, and throws errors that name the path.
#include "base/open_file.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/checked.h"
#include "base/text.h"
#include "onnxar/bytes.h"
#include "os/error.h"
#include "os/names.h"
#include "os/process.h"

namespace onnxar::base {
namespace {

void expect_regular(os::FileKind kind, const std::filesystem::path& path) {
  if (kind == os::FileKind::regular) return;
  const bool is_folder = kind == os::FileKind::folder;
  throw Error(Code::io_not_a_file,
              is_folder ? "is a folder; name a file" : "is not a regular file; only files can be mapped", {}, path);
}

bool begins_with_a_byte(os::Handle file) noexcept {
  std::byte first{};
  std::error_code ignored;
  return os::read_at(file, std::span(&first, 1), 0, ignored) != 0;
}

std::string blocked_by(const std::filesystem::path& path) {
  std::string programs;
  for (const std::string& program : os::programs_with(path)) programs += (programs.empty() ? "" : ", ") + program;
  return concat("the file is mapped by ", programs.empty() ? "a program" : programs,
                ", and this system cannot change a mapped file; close that program");
}

}  // namespace

os::File open_file(const std::filesystem::path& path, os::Access access) {
  std::error_code failed;
  os::File file = os::open(path, access, failed);
  if (!failed) return file;
  // Opening a folder fails here only for writing; `examine` refuses a folder that is open for reading.
  if (os::reason_of(failed) == os::Reason::is_folder) {
    throw Error(Code::io_not_a_file, "is a folder; name a file", {}, path);
  }
  throw system_error(failed, "cannot open", path);
}

os::File duplicate(os::Handle file) {
  std::error_code failed;
  os::File other = os::duplicate(file, failed);
  if (failed) throw system_error(failed, "cannot duplicate a file descriptor", {});
  return other;
}

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

ExaminedFile examine(os::Handle file, const FilePart& part, const std::filesystem::path& path) {
  std::error_code failed;
  const os::FileStatus status = os::status_of(file, failed);
  if (failed) throw system_error(failed, "cannot examine", path);
  expect_regular(status.kind, path);
  if (status.size == 0 && begins_with_a_byte(file)) {
    throw Error(Code::io_not_a_file,
                "has content but no size, like files in /proc, and cannot be mapped; copy it first", {}, path);
  }
  const auto length = length_within(part.offset, part.length, status.size);
  if (!length) {
    throw Error(Code::usage_argument, range_fault(part.offset, part.length, "the file", status.size), {}, path);
  }
  return {status, *length};
}

std::size_t ExaminedFile::length_in_memory(const std::filesystem::path& path) const {
  if (length > most_in_memory) refuse_address_space(length, path);
  return in_memory(length);
}

void read_fully(os::Handle file, std::span<std::byte> target, std::uint64_t offset, const std::filesystem::path& path) {
  std::error_code failed;
  const std::size_t done = os::read_fully_at(file, target, offset, failed);
  if (failed) throw system_error(failed, "cannot read", path);
  if (done < target.size()) {
    throw Error(Code::io_changed, concat("the file was shortened to ", offset + done, " bytes while it was read"), {},
                path, {Hint::copy_in});
  }
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

Error system_error(const std::error_code& failed, std::string_view doing, const std::filesystem::path& path) {
  const std::string reason = failed.message();
  const auto of = [&](Code code, std::string_view why, Advice advice = {}) {
    return Error(code, concat(doing, ": ", why), {}, path, std::move(advice));
  };
  switch (os::reason_of(failed)) {
    case os::Reason::not_found:
      if (is_address(os::text_of(path)))
        return of(Code::io_not_found, "this is an address, but a file is needed here", {Hint::get_whole});
      if (os::text_of(path).find("://") != std::string::npos)
        return of(Code::io_not_found, "there is no file of this name, and it is not an http, https or s3 URL");
      return of(Code::io_not_found, "no such file or folder; check the path");
    case os::Reason::permission: return of(Code::io_permission, reason);
    case os::Reason::disk_full:
      return of(Code::io_disk_full, concat("the disk is full (", reason, "); free space or write elsewhere"));
    case os::Reason::bad_name:
      return of(Code::io_failed,
                "no file of this system can have this name (it is too long; on Windows also a device such as NUL, a "
                "`:`, or a dot or space at its end); choose a different name");
    case os::Reason::mapped: return of(Code::io_failed, blocked_by(path));
    default: return of(Code::io_failed, reason);
  }
}

Error changed_while_read(const std::filesystem::path& path) {
  return {Code::io_changed, "the file was changed while it was read; try again", {}, path};
}

Error being_edited(const std::filesystem::path& path) {
  return {Code::archive_busy,
          "the archive is being edited, by another process or by an editor of this one; try again when that edit has "
          "ended",
          {},
          path};
}

os::Locking lock_with_patience(os::Handle file, os::Lock lock, const std::filesystem::path& path,
                               std::error_code& failed) {
  using namespace std::chrono_literals;
  constexpr auto step = 10ms;  // flock cannot wait with a time limit
  for (auto patience = 1000ms; patience > 0ms; patience -= step) {
    const os::Locking locking = os::try_lock(file, lock, failed);
    if (locking != os::Locking::busy) return locking;
    std::this_thread::sleep_for(step);
  }
  throw being_edited(path);
}

os::File lock_for_replacing(const std::filesystem::path& path) {
  while (true) {
    const auto there = status_if_there(path);
    if (!there || there->kind != os::FileKind::regular) break;
    std::error_code failed;
    os::File file = os::open(path, os::Access::read, failed);
    if (os::reason_of(failed) == os::Reason::not_found) continue;  // it was removed meanwhile
    // A file that may not be read may not be edited either, so it needs no lock. After other errors (no free
    // descriptor, a fault of the disk) an edit may be in progress, and it would be lost.
    if (os::reason_of(failed) == os::Reason::permission) break;
    if (failed) throw system_error(failed, "cannot lock", path);
    // NFS without a lock daemon and some FUSE file systems have no locks. Replacing a file must still work there.
    if (lock_with_patience(file, os::Lock::shared, path, failed) == os::Locking::failed) break;
    if (leads_to(path, file)) return file;
  }
  return {};
}

void renew_lock(os::File& lock, const std::filesystem::path& path) {
  if (lock.valid() && leads_to(path, lock)) return;
  os::File now = lock_for_replacing(path);
  if (now.valid()) lock = std::move(now);  // invalid if the folder was moved with the locked file
}

}  // namespace onnxar::base
