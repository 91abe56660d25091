#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/folder.h"
#include "os/posix/native.h"
#include "os/posix/system.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // O_NONBLOCK: opening a pipe must not wait

File open_with_openat2(Handle folder, const fs::path& relative, int flags, Links links,
                       std::error_code& failed) noexcept {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;  // magic links, as in /proc/PID/fd, jump out of any folder
  if (links == Links::refuse) how.resolve |= RESOLVE_NO_SYMLINKS;
  const auto open = [&] { return ::syscall(SYS_openat2, descriptor_of(folder), relative.c_str(), &how, sizeof how); };
  return opened_by(open, failed);
}

/// Whether openat2 is missing, as before Linux 5.6. Sandboxes refuse unknown calls with EPERM; kernels refuse unknown
/// flags with EINVAL.
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

const int lookup_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

File open_beneath(Handle folder, const fs::path& relative, Links links, std::error_code& failed) noexcept {
  return open_within(folder, relative, read_flags, links, failed);
}

File open_folder_beneath(Handle folder, const fs::path& relative, std::error_code& failed) noexcept {
  return open_within(folder, relative, lookup_flags, Links::refuse, failed);
}

}  // namespace onnxar::os
