#include "os/output.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

#include "os/posix/native.h"
#include "os/posix/system.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

/// The path by which linkat finds an open file. AT_EMPTY_PATH does not need /proc, but requires CAP_DAC_READ_SEARCH.
class NameInProc {
 public:
  explicit NameInProc(Handle file) noexcept {
    std::snprintf(text_.data(), text_.size(), "/proc/self/fd/%d", descriptor_of(file));
  }
  [[nodiscard]] const char* c_str() const noexcept { return text_.data(); }

 private:
  std::array<char, 32> text_{};
};

/// EISDIR and EINVAL: O_TMPFILE contains O_DIRECTORY, so kernels and file systems that do not know it see an attempt to
/// open a folder for writing.
bool lacks_nameless_files(const std::error_code& failed) noexcept {
  return failed.value() == EOPNOTSUPP || failed.value() == EISDIR || failed.value() == EINVAL;
}

}  // namespace

File create_unseen(Handle folder, std::error_code& failed) noexcept {
  const auto create = [&] { return ::openat(descriptor_of(folder), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, for_all); };
  File file = opened_by(create, failed);
  if (lacks_nameless_files(failed)) failed = error_of(EOPNOTSUPP);
  if (failed || ::access(NameInProc(file).c_str(), F_OK) == 0) return file;
  failed = error_of(EOPNOTSUPP);  // without /proc (a chroot, a container) the file could never be named
  return {};
}

std::error_code give_name(Handle file, Handle folder, const fs::path& name) noexcept {
  const NameInProc self(file);
  return outcome(::linkat(AT_FDCWD, self.c_str(), descriptor_of(folder), name.c_str(), AT_SYMLINK_FOLLOW) == 0);
}

std::error_code rename_to_free_name(Handle folder, const fs::path& from, const fs::path& to) noexcept {
  const int here = descriptor_of(folder);
  // By its number: musl has had renameat2 only since 1.2.6.
  const auto rename = [&] { return ::syscall(SYS_renameat2, here, from.c_str(), here, to.c_str(), RENAME_NOREPLACE); };
  const std::error_code failed = outcome(rename() == 0);
  // EINVAL: the file system does not support RENAME_NOREPLACE.
  return failed.value() == EINVAL ? rename_by_link(folder, from, to) : failed;
}

std::error_code set_aside(Handle file, std::uint64_t offset, std::uint64_t length, FileSize size) noexcept {
  // The kernel reads larger numbers as negative ones and returns EINVAL, which callers take for a missing fallocate.
  if (!std::in_range<off_t>(offset + length)) return error_of(EFBIG);
  const int mode = size == FileSize::stays ? FALLOC_FL_KEEP_SIZE : 0;
  const auto allocate = [&] {
    return ::fallocate(descriptor_of(file), mode, static_cast<off_t>(offset), static_cast<off_t>(length));
  };
  return outcome(uninterrupted(allocate) == 0);
}

bool can_share_blocks(Handle file) noexcept {
  return !share_blocks(file, 0, file, 0, 0);  // length 0 changes nothing and shows whether the file system has the call
}

std::error_code share_blocks(Handle file, std::uint64_t offset, Handle source, std::uint64_t source_offset,
                             std::uint64_t length) noexcept {
  const file_clone_range range{descriptor_of(source), source_offset, length, offset};
  return outcome(uninterrupted([&] { return ::ioctl(descriptor_of(file), FICLONERANGE, &range); }) == 0);
}

void start_writeback(Handle file, std::uint64_t offset, std::uint64_t length) noexcept {
  ::sync_file_range(descriptor_of(file), static_cast<off_t>(offset), static_cast<off_t>(length), SYNC_FILE_RANGE_WRITE);
}

}  // namespace onnxar::os
