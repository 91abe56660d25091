#include "os/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/posix/native.h"
#include "os/posix/system.h"

namespace onnxar::os {

// fsync hands the data to the disk, which may keep them in its own cache; F_FULLFSYNC waits until they are written.
std::error_code sync(Handle file) noexcept {
  const int descriptor = descriptor_of(file);
  if (uninterrupted([descriptor] { return ::fcntl(descriptor, F_FULLFSYNC); }) == 0) return {};
  // File systems of other systems and of networks do not know F_FULLFSYNC.
  return outcome(uninterrupted([descriptor] { return ::fsync(descriptor); }) == 0);
}

timespec modified_of(const struct stat& status) noexcept { return status.st_mtimespec; }

timespec changed_of(const struct stat& status) noexcept { return status.st_ctimespec; }

}  // namespace onnxar::os
