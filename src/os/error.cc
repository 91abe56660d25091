// Finds the reason in an error of the system.
#include "os/error.h"

#include <cerrno>

#ifdef _WIN32
#include "os/windows/native.h"
#endif

namespace onnxar::os {
namespace {

Reason reason_of_errno(int number) noexcept {
  if (number == ENOTSUP) return Reason::unsupported;  // on Linux the number of EOPNOTSUPP, elsewhere its own
  switch (number) {
    case 0: return Reason::none;
    case ENOENT:
    case ENOTDIR: return Reason::not_found;
    case EEXIST: return Reason::exists;
    case EACCES:
    case EPERM:
    case EROFS: return Reason::permission;
#ifdef EDQUOT
    case EDQUOT:
#endif
    case ENOSPC: return Reason::disk_full;
    case EISDIR: return Reason::is_folder;
    case EXDEV: return Reason::outside;  // openat2 for a path, rename and FICLONERANGE for a volume
    case ELOOP: return Reason::too_many_links;
    case ENAMETOOLONG: return Reason::bad_name;
    case EFBIG: return Reason::too_large;
    case EFAULT: return Reason::unreadable_bytes;  // write() of a mapping whose file was shortened
    case ENOSYS:
    case EOPNOTSUPP: return Reason::unsupported;
    default: return Reason::other;
  }
}

}  // namespace

#ifdef _WIN32

Reason reason_of(const std::error_code& failed) noexcept {
  // std::make_error_code makes codes with numbers of the C library.
  if (failed.category() != std::system_category()) return reason_of_errno(failed.value());
  switch (failed.value()) {
    case NO_ERROR: return Reason::none;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_PATHNAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_DIRECTORY: return Reason::not_found;
    case ERROR_FILENAME_EXCED_RANGE:
    case ERROR_INVALID_NAME: return Reason::bad_name;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS: return Reason::exists;
    case ERROR_ACCESS_DENIED:
    case ERROR_WRITE_PROTECT:
    case ERROR_SHARING_VIOLATION:
    case ERROR_PRIVILEGE_NOT_HELD: return Reason::permission;
    case ERROR_USER_MAPPED_FILE: return Reason::mapped;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case error_disk_quota_exceeded: return Reason::disk_full;
    case error_is_folder: return Reason::is_folder;
    case ERROR_NOT_SAME_DEVICE: return Reason::outside;
    case ERROR_CANT_RESOLVE_FILENAME: return Reason::too_many_links;
    case ERROR_FILE_TOO_LARGE: return Reason::too_large;
    case ERROR_NOACCESS:
    case ERROR_SWAPERROR:
    case ERROR_PARTIAL_COPY: return Reason::unreadable_bytes;
    case ERROR_CALL_NOT_IMPLEMENTED:
    case ERROR_INVALID_FUNCTION:
    case ERROR_NOT_SUPPORTED: return Reason::unsupported;
    default: return Reason::other;
  }
}

#else

Reason reason_of(const std::error_code& failed) noexcept { return reason_of_errno(failed.value()); }

#endif

}  // namespace onnxar::os
