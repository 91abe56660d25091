#include "os/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "os/posix/native.h"
#include "os/posix/system.h"

namespace onnxar::os {

// Not fdatasync: the file may be a new one, and a later rename must not become durable before its permissions do.
std::error_code sync(Handle file) noexcept {
  return outcome(uninterrupted([&] { return ::fsync(descriptor_of(file)); }) == 0);
}

timespec modified_of(const struct stat& status) noexcept { return status.st_mtim; }

timespec changed_of(const struct stat& status) noexcept { return status.st_ctim; }

}  // namespace onnxar::os
