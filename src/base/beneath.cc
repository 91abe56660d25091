#include "base/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <utility>

namespace onnxar::base {
namespace {

namespace fs = std::filesystem;

constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

FileDescriptor open_folder(const fs::path& folder) {
  return FileDescriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

FileDescriptor open_with_openat2(const FileDescriptor& folder, const fs::path& relative, std::uint64_t resolve) {
  open_how how{};
  how.flags = read_flags;
  how.resolve = resolve | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return FileDescriptor(static_cast<int>(::syscall(SYS_openat2, folder.get(), relative.c_str(), &how, sizeof how)));
}

bool is_link(const FileDescriptor& folder, const fs::path& name) {
  struct stat status{};
  return ::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

/// For kernels before 5.6 and sandboxes that do not know the call: no links at all.
FileDescriptor open_part_by_part(const FileDescriptor& folder, const fs::path& relative) {
  FileDescriptor here(::openat(folder.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    if (*part == ".." || relative.is_absolute()) {
      errno = EXDEV;
      return {};
    }
    const bool last = std::next(part) == relative.end();
    const int flags = last ? read_flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    FileDescriptor next(::openat(here.get(), part->c_str(), flags | O_NOFOLLOW));
    if (!next.valid()) {
      const int reason = errno;
      errno = is_link(here, *part) ? EXDEV : reason;
      return {};
    }
    here = std::move(next);
  }
  return here;
}

FileDescriptor open_in(const fs::path& folder, const fs::path& relative, std::uint64_t resolve) {
  const FileDescriptor directory = open_folder(folder);
  if (!directory.valid()) return {};
  FileDescriptor file = open_with_openat2(directory, relative, resolve);
  if (file.valid() || (errno != ENOSYS && errno != EPERM && errno != EINVAL)) return file;
  return open_part_by_part(directory, relative);
}

bool lies_in(const fs::path& relative) { return !relative.empty() && *relative.begin() != ".."; }

}  // namespace

FileDescriptor open_beneath(const fs::path& folder, const fs::path& second_folder, const fs::path& relative) {
  FileDescriptor file = open_in(folder, relative, 0);
  if (file.valid() || errno != EXDEV) return file;
  std::error_code failed;
  const fs::path real = fs::canonical(folder / relative, failed);
  const fs::path in_second = real.lexically_relative(second_folder);
  if (failed || relative.is_absolute() || !lies_in(relative.lexically_normal()) || !lies_in(in_second)) {
    errno = EXDEV;
    return {};
  }
  // What the path was resolved to may have changed since: so no link is followed any more.
  return open_in(second_folder, in_second, RESOLVE_NO_SYMLINKS);
}

}  // namespace onnxar::base
