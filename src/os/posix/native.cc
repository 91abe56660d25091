// Converts the status of files from the system's form, and decides which links to trust.
#include "os/posix/native.h"

#include <cerrno>

#include "os/file.h"

namespace onnxar::os {
namespace {

FileKind kind_of(mode_t mode) noexcept {
  if (S_ISREG(mode)) return FileKind::regular;
  if (S_ISDIR(mode)) return FileKind::folder;
  return S_ISLNK(mode) ? FileKind::link : FileKind::other;
}

std::int64_t nanoseconds(const timespec& time) noexcept { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

FileStatus file_status(const struct stat& status, std::error_code& failed) noexcept {
  if (!failed && status.st_size < 0) failed = error_of(EOVERFLOW);  // of a faulty file system
#ifdef __APPLE__
  const timespec &modified = status.st_mtimespec, &changed = status.st_ctimespec;
#else
  const timespec &modified = status.st_mtim, &changed = status.st_ctim;
#endif
  return {kind_of(status.st_mode),
          {static_cast<std::uint64_t>(status.st_dev), status.st_ino},
          static_cast<std::uint64_t>(status.st_size),
          nanoseconds(modified),
          nanoseconds(changed)};
}

// Only sticky, world-writable folders such as /tmp need the rule: in any other folder, a user with write access could
// replace the target itself.
bool is_trusted_link(std::uint32_t folder_mode, std::uint32_t folder_owner, std::uint32_t link_owner,
                     std::uint32_t user) noexcept {
  const bool shared = (folder_mode & S_ISVTX) != 0 && (folder_mode & S_IWOTH) != 0;
  return !shared || link_owner == user || link_owner == folder_owner;
}

}  // namespace onnxar::os
