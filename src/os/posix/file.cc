// Opens, reads, writes and locks files on POSIX systems.
#include "os/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#else
#include <algorithm>
#endif

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include "os/posix/native.h"

namespace onnxar::os {
namespace {

std::size_t count_of(ssize_t result, std::error_code& failed) noexcept {
  failed = outcome(result >= 0);
  return result < 0 ? 0 : static_cast<std::size_t>(result);
}

constexpr std::size_t most_kept = 64;
std::array<std::atomic<int>, most_kept> kept_from_children;  // descriptors plus one; 0 is a free place

/// Runs in the child. Does not close the descriptors: the child may close them again, when they are of other files.
/// Does not unlock: the lock belongs to the opening, which parent and child share.
void drop_in_child() {
  const int error = errno;
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (std::atomic<int>& each : kept_from_children) {
    const int descriptor = each.exchange(0) - 1;
    if (descriptor < 0 || nothing < 0) continue;
    ::dup2(nothing, descriptor);
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  if (nothing >= 0) ::close(nothing);
  errno = error;
}

#ifndef __linux__

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

#endif

}  // namespace

Handle handle_of(int descriptor) noexcept { return descriptor < 0 ? Handle::none : Handle{descriptor}; }

// Not repeated after EINTR: Linux has released the descriptor by then, and another thread may have got its number.
void close(Handle handle) noexcept { ::close(descriptor_of(handle)); }

File open(const std::filesystem::path& path, Access access, std::error_code& failed) noexcept {
  // O_NONBLOCK: opening a pipe must not wait for its other end. The flag has no effect on a regular file.
  const int mode = access == Access::read ? O_RDONLY : O_RDWR;
  return opened_by([&] { return ::open(path.c_str(), mode | O_CLOEXEC | O_NONBLOCK); }, failed);
}

File duplicate(Handle file, std::error_code& failed) noexcept {
  return file_of(::fcntl(descriptor_of(file), F_DUPFD_CLOEXEC, 0), failed);
}

FileStatus status_of(Handle file, std::error_code& failed) noexcept {
  struct stat status{};
  failed = outcome(::fstat(descriptor_of(file), &status) == 0);
  return file_status(status, failed);
}

FileStatus status_of(const std::filesystem::path& path, std::error_code& failed) noexcept {
  struct stat status{};
  failed = outcome(::stat(path.c_str(), &status) == 0);
  return file_status(status, failed);
}

FileStatus link_status_of(const std::filesystem::path& path, std::error_code& failed) noexcept {
  struct stat status{};
  failed = outcome(::lstat(path.c_str(), &status) == 0);
  return file_status(status, failed);
}

std::filesystem::path real_path(const std::filesystem::path& path, std::error_code& failed) {
  return std::filesystem::canonical(path, failed);
}

std::size_t read_at(Handle file, std::span<std::byte> target, std::uint64_t offset, std::error_code& failed) noexcept {
  const auto read = [&] {
    return ::pread(descriptor_of(file), target.data(), target.size(), static_cast<off_t>(offset));
  };
  return count_of(uninterrupted(read), failed);
}

std::size_t write_at(Handle file, std::uint64_t offset, std::span<const std::byte> first,
                     std::span<const std::byte> second, std::error_code& failed) noexcept {
  // iovec is shared with readv, so it holds a pointer to non-const; pwritev does not change the bytes.
  const std::array parts{iovec{const_cast<std::byte*>(first.data()), first.size()},
                         iovec{const_cast<std::byte*>(second.data()), second.size()}};
  const auto write = [&] {
    return ::pwritev(descriptor_of(file), parts.data(), parts.size(), static_cast<off_t>(offset));
  };
  return count_of(uninterrupted(write), failed);
}

std::error_code set_size(Handle file, std::uint64_t size) noexcept {
  const auto cut = [&] { return ::ftruncate(descriptor_of(file), static_cast<off_t>(size)); };
  return outcome(uninterrupted(cut) == 0);
}

#ifdef __linux__

// Not fdatasync: the file may be a new one, and a later rename must not become durable before its permissions do.
std::error_code sync(Handle file) noexcept {
  return outcome(uninterrupted([&] { return ::fsync(descriptor_of(file)); }) == 0);
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

#else

// fsync hands the data to the disk, which may keep them in its own cache; F_FULLFSYNC waits until they are written.
std::error_code sync(Handle file) noexcept {
  const int descriptor = descriptor_of(file);
  if (uninterrupted([descriptor] { return ::fcntl(descriptor, F_FULLFSYNC); }) == 0) return {};
  // File systems of other systems and of networks do not know F_FULLFSYNC.
  return outcome(uninterrupted([descriptor] { return ::fsync(descriptor); }) == 0);
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

#endif

void allow_holes(Handle /*file*/) noexcept {}  // every file may have them

std::error_code hand_over(Handle file) noexcept {
  const int other = ::fcntl(descriptor_of(file), F_DUPFD_CLOEXEC, 0);
  if (other < 0) return outcome(false);
  // Every close of a descriptor, not only the last one, makes the file system write the data that it holds back. The
  // result of close is the only report of a write that failed later. EINTR: it was interrupted, but did not fail.
  return outcome(::close(other) == 0 || errno == EINTR);
}

Locking try_lock(Handle file, Lock lock, std::error_code& failed) noexcept {
  // flock, not fcntl: a flock lock belongs to the opening. A POSIX lock belongs to the process and is released as soon
  // as any code in the process closes any descriptor of the file.
  const int operation = lock == Lock::shared ? LOCK_SH : LOCK_EX;
  const auto take = [&] { return ::flock(descriptor_of(file), operation | LOCK_NB); };
  failed = outcome(uninterrupted(take) == 0);
  if (!failed) return Locking::done;
  return failed.value() == EWOULDBLOCK ? Locking::busy : Locking::failed;
}

NotForChildren::NotForChildren(Handle file) noexcept : file_(file) {
  [[maybe_unused]] static const int registered = ::pthread_atfork(nullptr, nullptr, drop_in_child);
  for (; place_ < most_kept; ++place_) {
    int free = 0;
    if (kept_from_children[place_].compare_exchange_strong(free, descriptor_of(file) + 1)) return;
  }
}

NotForChildren::~NotForChildren() {
  int own = descriptor_of(file_) + 1;  // in a child the place is free, or another one's
  if (place_ < most_kept) kept_from_children[place_].compare_exchange_strong(own, 0);
}

}  // namespace onnxar::os
