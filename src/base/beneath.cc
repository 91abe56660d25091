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
constexpr int folder_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

FileDescriptor open_folder(const fs::path& folder) { return FileDescriptor(::open(folder.c_str(), folder_flags)); }

FileDescriptor open_with_openat2(const FileDescriptor& folder, const fs::path& relative, int flags,
                                 std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.resolve = resolve | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return FileDescriptor(static_cast<int>(::syscall(SYS_openat2, folder.get(), relative.c_str(), &how, sizeof how)));
}

bool is_link(const FileDescriptor& folder, const fs::path& name) {
  struct stat status{};
  return ::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

/// For kernels before 5.6 and sandboxes that do not know the call: no links at all.
FileDescriptor open_part_by_part(const FileDescriptor& folder, const fs::path& relative, int last_flags) {
  FileDescriptor here(::openat(folder.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    if (*part == ".." || relative.is_absolute()) {
      errno = EXDEV;
      return {};
    }
    const bool last = std::next(part) == relative.end();
    const int flags = last ? last_flags : folder_flags;
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

FileDescriptor open_in(const FileDescriptor& folder, const fs::path& relative, int flags, std::uint64_t resolve) {
  constexpr int attempts = 100;  // where things are renamed all the time the kernel cannot say whether it is beneath
  FileDescriptor file;
  for (int i = 0; i < attempts; ++i) {
    file = open_with_openat2(folder, relative, flags, resolve);
    if (file.valid() || errno != EAGAIN) break;
  }
  if (file.valid() || (errno != ENOSYS && errno != EPERM && errno != EINVAL)) return file;
  return open_part_by_part(folder, relative, flags);
}

FileDescriptor open_in(const fs::path& folder, const fs::path& relative, std::uint64_t resolve) {
  const FileDescriptor directory = open_folder(folder);
  return directory.valid() ? open_in(directory, relative, read_flags, resolve) : FileDescriptor();
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

FileDescriptor open_folder_beneath(const FileDescriptor& folder, const fs::path& relative) {
  return open_in(folder, relative, folder_flags, RESOLVE_NO_SYMLINKS);
}

}  // namespace onnxar::base
