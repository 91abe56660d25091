#include "archive/changed.h"

#include <algorithm>
#include <vector>

#include "archive/access.h"
#include "archive/file_kind.h"
#include "base/mapped_file.h"
#include "base/open_file.h"

namespace onnxar {
Error with_archive(const Error& error, const Archive& archive) {
  const base::RangedMemory* const ranges = ArchiveAccess::ranges(archive);
  return with_change(with_foreign_hint(error, archive.file(), ranges).with_path(archive.path()), archive);
}

namespace {

/// Whether the file still has the archive's directory at its offset, or cannot be read. Reads by a system call:
/// touching a mapping raises SIGBUS if the file was cut.
bool has_directory(const base::OpenPlace& archive, const zip::Directory& directory) {
  const Bytes expected = directory.headers();
  std::vector<std::byte> found(expected.size());
  std::error_code failed;
  const std::size_t read = os::read_fully_at(archive.file, found, archive.offset + directory.offset(), failed);
  return failed || (read == found.size() && std::ranges::equal(found, expected));
}

}  // namespace

bool is_changed(const Archive& archive) {
  // A file that is read by ranges comes from one version (random_access.h), and its path is only a name.
  if (archive.path().empty() || ArchiveAccess::ranges(archive) != nullptr) return false;
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
    // Nothing else is known to have changed: without a free descriptor, for example, the file cannot be looked at.
    return error.code() == Code::io_not_found;
  }
}

Error changed_while_read(const std::filesystem::path& path) {
  return {Code::io_changed, "the file was changed while it was read; try again", {}, path};
}

void expect_not_cut(const Archive& archive) {
  const base::FileOrigin* const origin = ArchiveAccess::origin(archive);
  if (origin != nullptr && origin->open(archive.file()) && is_changed(archive))
    throw changed_while_read(archive.path());
}

Error being_edited(const std::filesystem::path& path) {
  return {Code::archive_busy, "another process is editing the archive; try again in a moment", {}, path};
}

Error with_edit(const Error& error, const std::filesystem::path& path) {
  if (kind(error.code()) != Kind::format) return error;
  try {
    // Editors hold an exclusive lock, so a shared one fails while an edit is at work.
    const os::File file = base::open_file(path, os::Access::read);
    return os::try_lock(file, os::Lock::shared) == os::Locking::busy ? being_edited(path) : error;
  } catch (const Error&) {
    return error;  // the file can no longer be opened, which does not affect the bytes that were read
  }
}

Error with_model_change(const Error& error, const Archive& archive) {
  const base::FileOrigin* const origin = ArchiveAccess::origin(archive);
  const bool edited = kind(error.code()) == Kind::format && origin != nullptr && origin->is_changed();
  return edited ? changed_while_read(archive.path()) : with_change(error, archive);
}

Error with_change(const Error& error, const Archive& archive) {
  return kind(error.code()) == Kind::format && is_changed(archive) ? changed_while_read(archive.path()) : error;
}

Error with_change(const Error& error, const base::MappedFile& file, const std::filesystem::path& path) {
  const bool changed = kind(error.code()) == Kind::format && file.is_changed();
  return changed ? changed_while_read(path) : error;
}

}  // namespace onnxar
