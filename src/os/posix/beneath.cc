// Opening a path below a folder, one part after the other.
#include <fcntl.h>

#include <iterator>

#include "os/folder.h"
#include "os/posix/native.h"
#include "os/posix/system.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

bool is_link(Handle folder, const fs::path& name) noexcept {
  std::error_code ignored;
  return status_in(folder, name, ignored).kind == FileKind::link && !ignored;
}

}  // namespace

// Follows no link at all: to resolve a link in user space without a race, every step of its target would need the same
// walk.
File open_part_by_part(Handle folder, const fs::path& relative, int last_flags, std::error_code& failed) noexcept {
  File here;
  failed = relative.empty() ? error_of(ENOENT) : std::error_code();
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    if (*part == ".." || relative.is_absolute()) {
      failed = error_of(EXDEV);
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

}  // namespace onnxar::os
