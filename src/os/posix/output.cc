#include "os/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/posix/native.h"
#include "os/posix/system.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

}  // namespace

File create_new(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  constexpr int flags = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC;
  return opened_by([&] { return ::openat(descriptor_of(folder), name.c_str(), flags, for_all); }, failed);
}

std::error_code rename_over(Handle folder, const fs::path& from, const fs::path& to) noexcept {
  return outcome(::renameat(descriptor_of(folder), from.c_str(), descriptor_of(folder), to.c_str()) == 0);
}

std::error_code rename_by_link(Handle folder, const fs::path& from, const fs::path& to) noexcept {
  const int here = descriptor_of(folder);
  const std::error_code failed = outcome(::linkat(here, from.c_str(), here, to.c_str(), 0) == 0);
  if (!failed) ::unlinkat(here, from.c_str(), 0);
  return failed;
}

void allow_holes(Handle /*file*/) noexcept {}  // every file may have them

std::error_code keep_mode(Handle file, Handle folder, const fs::path& name) noexcept {
  struct stat status{};
  const int found = ::fstatat(descriptor_of(folder), name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
  if (found != 0 && errno != ENOENT) return outcome(false);
  if (found != 0 || !S_ISREG(status.st_mode)) return {};  // a new name: the mode from the umask stays
  const int here = descriptor_of(file);
  // Root keeps the owner, too.
  const bool keeps_group =
      ::fchown(here, status.st_uid, status.st_gid) == 0 || ::fchown(here, static_cast<uid_t>(-1), status.st_gid) == 0;
  mode_t mode = status.st_mode & 0777;
  if (!keeps_group) mode = (mode & 0707) | (mode & 0007) << 3;  // the members of another group are others
  const std::error_code failed = outcome(::fchmod(here, mode) == 0);
  // File systems without modes, such as FAT, refuse to change them. The old file then had none of its own either.
  const bool has_modes = failed.value() != EPERM && failed.value() != ENOSYS && failed.value() != EOPNOTSUPP;
  return has_modes ? failed : std::error_code();
}

}  // namespace onnxar::os
