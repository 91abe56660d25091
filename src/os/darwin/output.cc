#include "os/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/stdio.h>

#include <algorithm>
#include <utility>

#include "os/posix/native.h"
#include "os/posix/system.h"

namespace onnxar::os {
namespace {

/// Reserves blocks up to `end` without changing the file's size.
std::error_code preallocate(Handle file, off_t end) noexcept {
  struct stat status{};
  if (::fstat(descriptor_of(file), &status) != 0) return outcome(false);
  constexpr off_t block = 512;  // the unit of st_blocks, on every file system
  const off_t reserved = std::max(status.st_size, static_cast<off_t>(status.st_blocks) * block);
  if (end <= reserved) return {};
  fstore_t room{F_ALLOCATEALL, F_PEOFPOSMODE, 0, end - reserved, 0};  // counts from the end of the reserved blocks
  return outcome(uninterrupted([&] { return ::fcntl(descriptor_of(file), F_PREALLOCATE, &room); }) == 0);
}

}  // namespace

// There is no O_TMPFILE, and no way to give a removed file a name again.
File create_unseen(Handle /*folder*/, std::error_code& failed) noexcept {
  failed = error_of(ENOTSUP);
  return {};
}

std::error_code give_name(Handle /*file*/, Handle /*folder*/, const std::filesystem::path& /*name*/) noexcept {
  return error_of(ENOTSUP);
}

std::error_code rename_to_free_name(Handle folder, const std::filesystem::path& from,
                                    const std::filesystem::path& to) noexcept {
  const int here = descriptor_of(folder);
  const std::error_code failed = outcome(::renameatx_np(here, from.c_str(), here, to.c_str(), RENAME_EXCL) == 0);
  return failed.value() == ENOTSUP ? rename_by_link(folder, from, to) : failed;
}

std::error_code set_aside(Handle file, std::uint64_t offset, std::uint64_t length, FileSize size) noexcept {
  if (!std::in_range<off_t>(offset + length)) return error_of(EFBIG);
  const auto end = static_cast<off_t>(offset + length);
  const std::error_code failed = preallocate(file, end);
  if (failed || size == FileSize::stays) return failed;
  std::error_code unknown;
  return status_of(file, unknown).size < offset + length ? set_size(file, offset + length) : unknown;
}

// fclonefileat makes a new file that shares all blocks of another one. No call shares a part of a file, which is what
// an entry of an archive is.
bool can_share_blocks(Handle /*file*/) noexcept { return false; }

std::error_code share_blocks(Handle /*file*/, std::uint64_t /*offset*/, Handle /*source*/,
                             std::uint64_t /*source_offset*/, std::uint64_t /*length*/) noexcept {
  return error_of(ENOTSUP);
}

// No call begins to write a part of a file; the system does so on its own.
void start_writeback(Handle /*file*/, std::uint64_t /*offset*/, std::uint64_t /*length*/) noexcept {}

}  // namespace onnxar::os
