// Opens archives that another process may be editing, locks them, and explains errors that an edit caused.
#include "archive/opening.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/file_kind.h"
#include "base/checked.h"
#include "base/errors.h"
#include "base/mapped_file.h"
#include "base/memory.h"
#include "base/open_file.h"
#include "base/text.h"
#include "os/error.h"
#include "os/file.h"
#include "zip/end_records.h"
#include "zip/format.h"
#include "zip/records.h"

namespace onnxar {
namespace {

using base::concat;

/// True if the fault is in the records that an edit writes last, so that cutting off the edit may repair the file.
bool is_fault_of_end(Code code) {
  switch (code) {
    case Code::zip_end_missing:
    case Code::zip_end_not_last:
    case Code::zip_end_multi_disk:
    case Code::zip_end_directory_bounds:
    case Code::zip_zip64_locator:
    case Code::zip_zip64_record:
    case Code::zip_zip64_disagree: return true;
    default: return false;
  }
}

bool opens_as_archive(Bytes file, const OpenOptions& options) {
  try {
    Archive::open(file, nullptr, options);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// True if `rest` begins with the signature of a local header, or is a prefix of that signature.
bool begins_entry(Bytes rest) {
  std::vector<std::byte> header;
  zip::append_record(header, zip::LocalFileHeader());
  const std::size_t length = std::min(rest.size(), sizeof zip::local_file_signature);
  return std::ranges::equal(rest.first(length), Bytes(header).first(length));
}

/// Returns the size of the file if it ends with an end record, which an edit writes last. Otherwise an edit may be in
/// progress. If that edit fails, it cuts off the bytes that it appended, and access to a mapping of them raises SIGBUS.
/// Therefore reads with a system call.
std::optional<std::uint64_t> size_with_end_record(os::Handle file) noexcept {
  std::array<std::byte, zip::end_record_size> end{};
  std::error_code failed;
  const std::uint64_t size = os::status_of(file, failed).size;
  if (size < end.size()) return std::nullopt;  // also if the size is not known
  const bool is_read = os::read_fully_at(file, end, size - end.size(), failed) == end.size();
  return is_read && zip::parse_end_record(end) ? std::optional(size) : std::nullopt;
}

Archive open_mapped(const std::shared_ptr<const base::MappedFile>& mapping, const std::filesystem::path& path,
                    const OpenOptions& options) {
  return base::annotated(
      [&] { return base::Annotation{.path = path}; },
      [&] {
        return ArchiveAccess::open(
            {.file = ArchiveFile(mapping->bytes()), .owner = mapping, .path = path, .origin = mapping->origin()},
            options);
      });
}

/// Opens the archive in a part of an open file, which is mapped, or copied if `copy_in` is set.
Archive open_part(os::Handle file, const base::FilePart& part, const std::filesystem::path& path,
                  const OpenOptions& options) {
  if (!options.copy_in)
    return open_mapped(std::make_shared<const base::MappedFile>(base::MappedFile::map(file, part, path)), path,
                       options);
  return base::annotated(
      [&] { return base::Annotation{.path = path}; },
      [&] {
        const ByteSpan copy = base::read_in(file, part, zip::alignment_maximum, options.threads, path);
        return ArchiveAccess::open({.file = ArchiveFile(copy.bytes()), .owner = copy.owner(), .path = path}, options);
      });
}

/// Opens and locks the file, and checks that the path still names it: the process that held the lock before may have
/// replaced the file. If it cannot be locked, `failed` is set to the reason. Throws archive.busy if the lock is not
/// free within a second, and io.*.
os::File open_and_lock(const std::filesystem::path& path, os::Access access, os::Lock lock, std::error_code& failed) {
  while (true) {
    os::File file = base::open_file(path, access);
    if (base::lock_with_patience(file, lock, path, failed) == os::Locking::failed) return file;
    if (base::leads_to(path, file)) return file;
  }
}

/// Returns the options for testing if a file is an archive without reading all of it.
OpenOptions only_looking(OpenOptions options) {
  options.copy_in = false;
  options.prefetch = Prefetch::none;
  return options;
}

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

Error with_recover_hint(const Error& error, Bytes file, const OpenOptions& options) {
  if (!is_fault_of_end(error.code())) return error;
  const std::vector<std::uint64_t> ends = zip::state_ends(file);
  if (ends.empty() || !opens_as_archive(file.first(base::in_memory(ends.back())), options))
    return with_kind(error, file);
  const std::uint64_t end = ends.back();
  const bool without_end = error.code() == Code::zip_end_missing || error.code() == Code::zip_end_not_last;
  if (without_end && begins_entry(base::section(file, end))) {
    return {Code::archive_torn,  // X9
            concat("an edit did not finish, or a copy was cut short: ", file.size() - end,
                   " bytes follow the last complete state"),
            {"", end},
            error.path(),
            {Hint::recover_cuts}};
  }
  return {error.code(),
          concat(error.message(), "; the first ", end, " bytes are an archive"),
          error.finding().place,
          error.path(),
          {Hint::recover_cuts}};
}

Archive open_path(const std::filesystem::path& path, const OpenOptions& options) {
  return open_archive(base::open_file(path, os::Access::read), nullptr, path, options);
}

Archive open_archive(os::Handle file, const std::shared_ptr<const base::MappedFile>& mapping,
                     const std::filesystem::path& path, const OpenOptions& options) {
  if (const auto size = size_with_end_record(file)) {
    try {
      // A mapping of another size may be of a state that an edit has cut off.
      const bool is_current = mapping && mapping->bytes().size() == *size;
      return is_current ? open_mapped(mapping, path, options) : open_part(file, {}, path, options);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
    }
  }
  // The file is broken, or an edit is in progress. Under the shared lock the file is stable, so an edit cannot be the
  // cause of an error.
  if (os::try_lock(file, os::Lock::shared) == os::Locking::busy) throw base::being_edited(path);
  return open_locked(file, path, options);
}

Archive open_range(os::Handle file, const base::FilePart& part, const OpenOptions& options,
                   const std::filesystem::path& path) {
  if (part.offset % zip::alignment_minimum != 0) {
    throw Error(Code::usage_argument,
                concat("an archive in another file must begin at a multiple of ", zip::alignment_minimum,
                       ", because its tensors are aligned; ", part.offset, " is not a multiple"),
                {}, path);
  }
  return open_part(file, part, path, options);
}

Archive open_locked(os::Handle file, const std::filesystem::path& path, const OpenOptions& options) {
  try {
    // Opens a mapping first, so that a large file that is not an archive is not read as a whole.
    if (options.copy_in) static_cast<void>(open_part(file, {}, path, only_looking(options)));
    return open_part(file, {}, path, options);
  } catch (const Error& error) {
    if (!is_fault_of_end(error.code())) throw;  // only these faults justify mapping the file again
    const auto mapping = base::MappedFile::map(file, path);
    throw with_recover_hint(error, mapping.bytes(), options);
  }
}

void read_local_headers(const Archive& archive) {
  const base::FileOrigin* const origin = ArchiveAccess::origin(archive);
  const auto place = origin != nullptr ? origin->open(archive.file()) : std::nullopt;
  if (!place) return;
  const zip::Directory& directory = ArchiveAccess::directory(archive);
  std::vector<std::byte> header;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    header.resize(directory.regular_header_size(i));
    const std::uint64_t at = place->offset + directory.entries()[i].header_offset;
    std::error_code failed;
    const std::size_t read = os::read_fully_at(place->file, header, at, failed);
    // A short read is not an error here: its bytes prove nothing, and the first use of the entry reports it.
    if (read > 0) directory.prove_regular(Bytes(header).first(read), i);
  }
}

os::File lock_for_editing(const std::filesystem::path& path) {
  std::error_code failed;
  os::File file = open_and_lock(path, os::Access::read_and_write, os::Lock::exclusive, failed);
  if (failed) throw base::system_error(failed, "cannot lock", path);
  return file;
}

os::File lock_for_planning(const std::filesystem::path& path) {
  std::error_code ignored;
  return open_and_lock(path, os::Access::read, os::Lock::shared, ignored);
}

os::File lock_output(const std::filesystem::path& path, const OutputOptions& options) {
  if (!options.overwrite) return {};
  if (!options.dry_run) return base::lock_for_replacing(path);
  static_cast<void>(base::link_status(path));  // a dry run also refuses a path that cannot be examined
  return {};
}

Error with_archive(const Error& error, const Archive& archive) {
  return with_change(with_foreign_hint(error, ArchiveAccess::file(archive)).with_path(archive.path()), archive);
}

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
    throw changed_while_read(archive.path());
}

Error with_edit(const Error& error, const std::filesystem::path& path) {
  if (kind(error.code()) != Kind::format) return error;
  try {
    // Editors hold an exclusive lock, so a shared one fails while an edit is in progress.
    const os::File file = base::open_file(path, os::Access::read);
    return os::try_lock(file, os::Lock::shared) == os::Locking::busy ? base::being_edited(path) : error;
  } catch (const Error&) {
    return error;  // the file can no longer be opened, which does not affect the bytes that were read
  }
}

Error with_model_change(const Error& error, const Archive& archive) {
  const base::FileOrigin* const origin = ArchiveAccess::origin(archive);
  const bool may_change = origin != nullptr && !ArchiveAccess::is_edited_here(archive);
  const bool edited = kind(error.code()) == Kind::format && may_change && origin->is_changed();
  return edited ? changed_while_read(archive.path()) : with_change(error, archive);
}

Error with_change(const Error& error, const Archive& archive) {
  return kind(error.code()) == Kind::format && is_changed(archive) ? changed_while_read(archive.path()) : error;
}

}  // namespace onnxar
