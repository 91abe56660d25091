// Converts struct stat to FileStatus.
#pragma once

#include <sys/stat.h>

#include "os/file.h"
#include "os/posix/system.h"

namespace onnxar::os {

inline FileKind kind_of(mode_t mode) noexcept {
  if (S_ISREG(mode)) return FileKind::regular;
  if (S_ISDIR(mode)) return FileKind::folder;
  return S_ISLNK(mode) ? FileKind::link : FileKind::other;
}

inline std::int64_t nanoseconds(const timespec& time) noexcept { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

inline FileStatus file_status(const struct stat& status) noexcept {
  return {kind_of(status.st_mode),
          {static_cast<std::uint64_t>(status.st_dev), status.st_ino},
          static_cast<std::uint64_t>(status.st_size),
          nanoseconds(modified_of(status)),
          nanoseconds(changed_of(status))};
}

}  // namespace onnxar::os
