#include "os/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>

#include "os/posix/file_status.h"
#include "os/posix/native.h"

namespace onnxar::os {
namespace {

std::size_t count_of(ssize_t result, std::error_code& failed) noexcept {
  failed = outcome(result >= 0);
  return result < 0 ? 0 : static_cast<std::size_t>(result);
}

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
  return file_status(status);
}

FileStatus status_of(const std::filesystem::path& path, std::error_code& failed) noexcept {
  struct stat status{};
  failed = outcome(::stat(path.c_str(), &status) == 0);
  return file_status(status);
}

FileStatus link_status_of(const std::filesystem::path& path, std::error_code& failed) noexcept {
  struct stat status{};
  failed = outcome(::lstat(path.c_str(), &status) == 0);
  return file_status(status);
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

std::error_code hand_over(Handle file) noexcept {
  const int other = ::fcntl(descriptor_of(file), F_DUPFD_CLOEXEC, 0);
  if (other < 0) return outcome(false);
  // Every close of a descriptor has the file system hand over what it holds back, not only the last one. Its result is
  // the only news of a write that failed later. EINTR: it was interrupted, but did not fail.
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

}  // namespace onnxar::os
