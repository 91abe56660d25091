#include "os/error.h"

#include <cerrno>

namespace onnxar::os {

Reason reason_of(const std::error_code& failed) noexcept {
  if (failed.value() == ENOTSUP) return Reason::unsupported;  // on Linux the number of EOPNOTSUPP, on macOS its own
  switch (failed.value()) {
    case 0: return Reason::none;
    case ENOENT:
    case ENOTDIR: return Reason::not_found;
    case EEXIST: return Reason::exists;
    case EACCES:
    case EPERM:
    case EROFS: return Reason::permission;
    case ENOSPC:
    case EDQUOT: return Reason::disk_full;
    case EISDIR: return Reason::is_folder;
    case EXDEV: return Reason::outside;  // openat2 for a path, rename and FICLONERANGE for a volume
    case ELOOP: return Reason::too_many_links;
    case EFBIG: return Reason::too_large;
    case EFAULT: return Reason::unreadable_bytes;  // write() of a mapping whose file was shortened
    case ENOSYS:
    case EOPNOTSUPP: return Reason::unsupported;
    default: return Reason::other;
  }
}

}  // namespace onnxar::os
