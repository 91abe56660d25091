#include "base/file_descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/checked.h"
#include "base/text.h"

namespace onnxar::base {
namespace {

std::int64_t nanoseconds(const timespec& time) noexcept { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

FileState state_in(const struct stat& status) noexcept {
  return {{status.st_dev, status.st_ino},
          static_cast<std::uint64_t>(status.st_size),
          nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

FileDescriptor FileDescriptor::duplicate() const {
  FileDescriptor other(::fcntl(number_, F_DUPFD_CLOEXEC, 0));
  if (!other.valid()) throw system_error(errno, "cannot duplicate a file descriptor", {});
  return other;
}

FileDescriptor open_file(const std::filesystem::path& path, Access access) {
  // O_NONBLOCK: opening a pipe must not wait for its other end; on a regular file it means nothing.
  const int mode = access == Access::read ? O_RDONLY : O_RDWR;
  FileDescriptor file(::open(path.c_str(), mode | O_CLOEXEC | O_NONBLOCK));
  if (file.valid()) return file;
  if (errno == EISDIR) throw Error(Code::io_not_a_file, "is a folder; name a file", {}, path);
  throw system_error(errno, "cannot open", path);
}

std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path real = std::filesystem::canonical(path, failed);
  if (failed) throw system_error(failed.value(), "cannot open", path);
  return real;
}

ExaminedFile examine(int descriptor, const FilePart& part, const std::filesystem::path& path) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) throw system_error(errno, "cannot examine", path);
  if (!S_ISREG(status.st_mode)) {
    throw Error(
        Code::io_not_a_file,
        S_ISDIR(status.st_mode) ? "is a folder; name a file" : "is not a regular file; only files can be mapped", {},
        path);
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t length = part.length.value_or(part.offset <= size ? size - part.offset : 0);
  if (!in_range(part.offset, length, size)) {
    throw Error(Code::usage_argument,
                concat("offset ", part.offset, " and length ", length, " leave the file of ", size, " bytes"), {},
                path);
  }
  return {state_in(status), length};
}

std::optional<FileState> state_of(const std::filesystem::path& path) noexcept {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return state_in(status);
}

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) noexcept {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

std::optional<FileIdentity> identity_of(const FileDescriptor& file) noexcept {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

Locking try_lock(const FileDescriptor& file, Lock lock) noexcept {
  const int operation = lock == Lock::shared ? LOCK_SH : LOCK_EX;
  while (::flock(file.get(), operation | LOCK_NB) != 0) {
    if (errno != EINTR) return errno == EWOULDBLOCK ? Locking::busy : Locking::failed;
  }
  return Locking::done;
}

Error system_error(int errno_value, std::string_view doing, const std::filesystem::path& path) {
  const std::string reason = std::generic_category().message(errno_value);
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR: return {Code::io_not_found, concat(doing, ": no such file or folder; check the path"), {}, path};
    case EACCES:
    case EPERM:
    case EROFS: return {Code::io_permission, concat(doing, ": ", reason), {}, path};
    case ENOSPC:
    case EDQUOT:
      return {Code::io_disk_full,
              concat(doing, ": the disk is full (", reason, "); free space or write elsewhere"),
              {},
              path};
    default: return {Code::io_failed, concat(doing, ": ", reason), {}, path};
  }
}

}  // namespace onnxar::base
