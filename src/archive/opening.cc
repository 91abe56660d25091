// Opens archives that another process may be editing, and locks them.
#include "archive/opening.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/evidence.h"
#include "base/annotated.h"
#include "base/file_lock.h"
#include "base/file_origin.h"
#include "base/mapped_file.h"
#include "base/memory.h"
#include "base/open_file.h"
#include "base/paths.h"
#include "base/text.h"
#include "os/error.h"
#include "os/file.h"
#include "zip/end_records.h"
#include "zip/format.h"
#include "zip/records.h"

namespace onnxar {
namespace {

using base::concat;

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
  return base::annotated(path, [&] {
    return ArchiveAccess::open(
        {.file = ArchiveFile(mapping->bytes()), .owner = mapping, .path = path, .origin = mapping->origin()}, options);
  });
}

/// Opens the archive in a part of an open file, which is mapped, or copied if `copy_in` is set.
Archive open_part(os::Handle file, const base::FilePart& part, const std::filesystem::path& path,
                  const OpenOptions& options) {
  if (!options.copy_in)
    return open_mapped(std::make_shared<const base::MappedFile>(base::MappedFile::map(file, part, path)), path,
                       options);
  const ByteSpan copy = base::read_in(file, part, zip::alignment_maximum, options.threads, path);
  const ArchiveFile bytes(copy.bytes());
  return base::annotated(Evidence{.path = &path, .file = bytes}, [&] {
    return ArchiveAccess::open({.file = bytes, .owner = copy.owner(), .path = path}, options);
  });
}

/// Returns the error of `open_part` with advice on the file. `uncut` opens an earlier state; if not set, none is tried.
Error advised(const Error& error, os::Handle file, const base::FilePart& part, const std::filesystem::path& path,
              const std::optional<OpenOptions>& uncut = {}) {
  if (hint_on(error.code()) == Hint::none) return error;  // only the other faults justify mapping the file again
  const auto mapping = base::MappedFile::map(file, part, path);
  return Evidence{.path = &path, .file = ArchiveFile(mapping.bytes()), .uncut = uncut}(error);
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

}  // namespace

Archive open_path(const std::filesystem::path& path, const OpenOptions& options) {
  return open_archive(base::open_file(path, os::Access::read), nullptr, path, options);
}

Archive open_archive(os::Handle file, const std::shared_ptr<const base::MappedFile>& mapping,
                     const std::filesystem::path& path, const OpenOptions& options, AdviceOn advice) {
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
  return open_locked(file, path, options, advice);
}

Archive open_range(os::Handle file, const base::FilePart& part, const OpenOptions& options,
                   const std::filesystem::path& path) {
  if (part.offset % zip::alignment_minimum != 0) {
    throw Error(Code::usage_argument,
                concat("an archive in another file must begin at a multiple of ", zip::alignment_minimum,
                       ", because its tensors are aligned; ", part.offset, " is not a multiple"),
                {}, path);
  }
  try {
    return open_part(file, part, path, options);
  } catch (const Error& error) {
    if (options.copy_in) throw;  // others may shorten the file, and the copy has explained the error
    throw advised(error, file, part, path);
  }
}

Archive open_locked(os::Handle file, const std::filesystem::path& path, const OpenOptions& options, AdviceOn advice) {
  try {
    // Opens a mapping first, so that a large file that is not an archive is not read as a whole.
    if (options.copy_in) static_cast<void>(open_part(file, {}, path, only_looking(options)));
    return open_part(file, {}, path, options);
  } catch (const Error& error) {
    if (advice == AdviceOn::cuts && hint_on(error.code()) != Hint::recover_cuts) throw;
    throw advised(error, file, {}, path, options);
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

}  // namespace onnxar
