#include "base/file_descriptor.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/text.h"

namespace onnxar::base {

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
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
