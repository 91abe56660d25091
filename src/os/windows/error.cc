#include "os/error.h"

#include <cerrno>

#include "os/windows/native.h"

namespace onnxar::os {
namespace {

/// Of the C library, as std::make_error_code gives it.
Reason reason_of_errno(int number) noexcept {
  switch (number) {
    case ENOENT:
    case ENOTDIR: return Reason::not_found;
    case EEXIST: return Reason::exists;
    case EACCES:
    case EPERM:
    case EROFS: return Reason::permission;
    case ENOSPC: return Reason::disk_full;
    case EISDIR: return Reason::is_folder;
    case EXDEV: return Reason::outside;
    case ELOOP: return Reason::too_many_links;
    case EFBIG: return Reason::too_large;
    case EFAULT: return Reason::unreadable_bytes;
    case ENOSYS:
    case EOPNOTSUPP: return Reason::unsupported;
    default: return Reason::other;
  }
}

}  // namespace

Reason reason_of(const std::error_code& failed) noexcept {
  if (!failed) return Reason::none;
  if (failed.category() != std::system_category()) return reason_of_errno(failed.value());
  switch (failed.value()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_PATHNAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_DIRECTORY: return Reason::not_found;
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

}  // namespace onnxar::os
