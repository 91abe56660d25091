// Opens, examines and reads files, and throws errors that name the path.
#include "base/open_file.h"

#include <utility>

#include "base/byte_range.h"
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
  if (os::reason_of(failed) == os::Reason::is_folder) expect_regular(os::FileKind::folder, path);
  throw system_error(failed, "cannot open", path);
}

os::File duplicate(os::Handle file) {
  std::error_code failed;
  os::File other = os::duplicate(file, failed);
  if (failed) throw system_error(failed, "cannot duplicate a file descriptor", {});
  return other;
}

ExaminedFile examine(os::Handle file, const FilePart& part, const std::filesystem::path& path) {
  std::error_code failed;
  os::FileStatus status = os::status_of(file, failed);
  if (failed) throw system_error(failed, "cannot examine", path);
  expect_regular(status.kind, path);
  const bool has_no_size = status.size == 0 && begins_with_a_byte(file);
  // Another process may have written the first bytes between the two calls: then the file has a size now.
  if (has_no_size) status = os::status_of(file, failed);
  if (has_no_size && status.size == 0) {
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

}  // namespace onnxar::base
