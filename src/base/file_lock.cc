// Locks files, and waits for a moment if another process has a lock.
#include "base/file_lock.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/open_file.h"
#include "base/paths.h"
#include "os/error.h"

namespace onnxar::base {

Error being_edited(const std::filesystem::path& path) {
  return {Code::archive_busy,
          "the archive is being edited, by another process or by an editor of this one; try again when that edit has "
          "ended",
          {},
          path};
}

os::Locking lock_with_patience(os::Handle file, os::Lock lock, const std::filesystem::path& path,
                               std::error_code& failed) {
  using namespace std::chrono_literals;
  constexpr auto step = 10ms;  // flock cannot wait with a time limit
  for (auto patience = 1000ms; patience > 0ms; patience -= step) {
    const os::Locking locking = os::try_lock(file, lock, failed);
    if (locking != os::Locking::busy) return locking;
    std::this_thread::sleep_for(step);
  }
  throw being_edited(path);
}

os::File lock_for_replacing(const std::filesystem::path& path) {
  while (true) {
    const auto there = status_if_there(path);
    if (!there || there->kind != os::FileKind::regular) break;
    std::error_code failed;
    os::File file = os::open(path, os::Access::read, failed);
    if (os::reason_of(failed) == os::Reason::not_found) continue;  // it was removed meanwhile
    // A file that may not be read may not be edited either, so it needs no lock. After other errors (no free
    // descriptor, a fault of the disk) an edit may be in progress, and it would be lost.
    if (os::reason_of(failed) == os::Reason::permission) break;
    if (failed) throw system_error(failed, "cannot lock", path);
    // NFS without a lock daemon and some FUSE file systems have no locks. Replacing a file must still work there.
    if (lock_with_patience(file, os::Lock::shared, path, failed) == os::Locking::failed) break;
    if (leads_to(path, file)) return file;
  }
  return {};
}

void renew_lock(os::File& lock, const std::filesystem::path& path) {
  if (lock.valid() && leads_to(path, lock)) return;
  os::File now = lock_for_replacing(path);
  if (now.valid()) lock = std::move(now);  // invalid if the folder was moved with the locked file
}

}  // namespace onnxar::base
