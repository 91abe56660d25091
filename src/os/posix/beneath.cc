#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iterator>

#include "os/folder.h"
#include "os/posix/native.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // O_NONBLOCK: opening a pipe must not wait
constexpr int lookup_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

File open_with_openat2(Handle folder, const fs::path& relative, int flags, Links links,
                       std::error_code& failed) noexcept {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;  // magic links, as in /proc/PID/fd, jump out of any folder
  if (links == Links::refuse) how.resolve |= RESOLVE_NO_SYMLINKS;
  const auto open = [&] { return ::syscall(SYS_openat2, descriptor_of(folder), relative.c_str(), &how, sizeof how); };
  return opened_by(open, failed);
}

bool is_link(Handle folder, const fs::path& name) noexcept {
  std::error_code ignored;
  return status_in(folder, name, ignored).kind == FileKind::link && !ignored;
}

/// Fallback for kernels before 5.6 and for sandboxes that reject openat2. Follows no link at all: to resolve a link in
/// user space without a race, every step of its target would need the same walk.
File open_part_by_part(Handle folder, const fs::path& relative, int last_flags, std::error_code& failed) noexcept {
  File here;
  failed = relative.empty() ? error_of(ENOENT) : std::error_code();  // as openat2
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    if (*part == ".." || relative.is_absolute()) {
      failed = error_of(EXDEV);  // as openat2 reports a path that leaves the folder
      return {};
    }
    const bool last = std::next(part) == relative.end();
    const int flags = last ? last_flags : lookup_flags;
    const Handle at = here.valid() ? here.get() : folder;
    const auto open = [&] { return ::openat(descriptor_of(at), part->c_str(), flags | O_NOFOLLOW); };
    File next = opened_by(open, failed);
    if (!next.valid()) {
      // O_NOFOLLOW fails with ELOOP or ENOTDIR at a link. Callers tell "outside" from "missing" by this code.
      if ((failed.value() == ELOOP || failed.value() == ENOTDIR) && is_link(at, *part)) failed = error_of(EXDEV);
      return {};
    }
    here = std::move(next);
  }
  return here;
}

/// Whether openat2 is missing. Sandboxes refuse unknown calls with EPERM; kernels refuse unknown flags with EINVAL.
bool is_missing(const std::error_code& failed) noexcept {
  return failed.value() == ENOSYS || failed.value() == EPERM || failed.value() == EINVAL;
}

File open_within(Handle folder, const fs::path& relative, int flags, Links links, std::error_code& failed) noexcept {
  // openat2 returns EAGAIN if a rename elsewhere on the system raced with a `..` in the path: the kernel could not
  // prove that the path stays beneath the folder. The bound keeps a process that renames in a loop from stalling this
  // one.
  constexpr int attempts = 100;
  File file;
  for (int i = 0; i < attempts; ++i) {
    file = open_with_openat2(folder, relative, flags, links, failed);
    if (failed.value() != EAGAIN) break;
  }
  return is_missing(failed) ? open_part_by_part(folder, relative, flags, failed) : std::move(file);
}

}  // namespace

File open_beneath(Handle folder, const fs::path& relative, Links links, std::error_code& failed) noexcept {
  return open_within(folder, relative, read_flags, links, failed);
}

File open_folder_beneath(Handle folder, const fs::path& relative, std::error_code& failed) noexcept {
  return open_within(folder, relative, lookup_flags, Links::refuse, failed);
}

}  // namespace onnxar::os
