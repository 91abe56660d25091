// Compares the file of an archive with what was read of it.
#include "archive/change_detection.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <system_error>
#include <vector>

#include "archive/access.h"
#include "base/file_origin.h"
#include "base/open_file.h"
#include "onnxar/error.h"
#include "os/file.h"
#include "zip/directory.h"

namespace onnxar {
namespace {

/// True if the file still has the archive's directory at its offset, or cannot be read. Reads with a system call,
/// because access to a mapping raises SIGBUS if the file was truncated.
bool has_directory(const base::OpenPlace& archive, const zip::Directory& directory) {
  const Bytes expected = directory.headers();
  std::vector<std::byte> found(expected.size());
  std::error_code failed;
  const std::size_t read = os::read_fully_at(archive.file, found, archive.offset + directory.offset(), failed);
  return failed || (read == found.size() && std::ranges::equal(found, expected));
}

}  // namespace

bool is_changed(const Archive& archive) {
  // A file that is read in ranges comes from one version (RandomAccess), and its path is only a name.
  if (archive.path().empty() || !ArchiveAccess::file(archive).is_here()) return false;
  // An edit of this process changes the size and the times of the file, but none of the bytes that are read.
  if (ArchiveAccess::is_edited_here(archive)) return false;
  const Bytes file = archive.file();
  const base::FileOrigin* const origin = ArchiveAccess::origin(archive);
  const auto was_touched = [origin] { return origin != nullptr && origin->is_changed(); };
  try {
    auto place = origin != nullptr ? origin->open(file) : std::nullopt;
    if (!place) {
      if (was_touched()) return true;  // the path names a different file now
      place = base::OpenPlace{base::open_file(archive.path(), os::Access::read), 0};
    }
    const auto size = base::examine(place->file, {}, archive.path()).status.size;
    if (size < place->offset + file.size()) return true;
    // A file that only grew was edited. Edits append, so the bytes that were read are unchanged.
    if (size == place->offset + file.size() && was_touched()) return true;
    return !has_directory(*place, ArchiveAccess::directory(archive));
  } catch (const Error& error) {
    // Other errors do not prove a change: without a free descriptor, for example, the file cannot be examined.
    return error.code() == Code::io_not_found;
  }
}

void expect_not_cut(const Archive& archive) {
  const base::FileOrigin* const origin = ArchiveAccess::origin(archive);
  if (origin != nullptr && origin->open(archive.file()) && is_changed(archive))
    throw base::changed_while_read(archive.path());
}

}  // namespace onnxar
