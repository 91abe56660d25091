#include "archive/opening.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/changed.h"
#include "base/mapped_file.h"
#include "base/memory.h"
#include "base/text.h"
#include "zip/format.h"
#include "zip/records.h"
#include "zip/states.h"

namespace onnxar {
namespace {

using base::concat;

/// Whether the fault is in what an edit writes last, so that cutting may mend it.
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

/// Whether a local header begins there, or as much of it as is left.
bool begins_entry(Bytes rest) {
  std::vector<std::byte> header;
  zip::append_record(header, zip::LocalFileHeader());
  const std::size_t length = std::min(rest.size(), sizeof zip::local_file_signature);
  return std::ranges::equal(rest.first(length), Bytes(header).first(length));
}

/// Readers that meet an edit hold the lock for a moment to see how it ended. Errors: archive.busy after a second.
base::Locking lock_with_patience(const base::FileDescriptor& file, base::Lock lock, const std::filesystem::path& path) {
  using namespace std::chrono_literals;
  constexpr auto step = 10ms;
  for (auto patience = 1000ms; patience > 0ms; patience -= step) {
    const base::Locking locking = base::try_lock(file, lock);
    if (locking != base::Locking::busy) return locking;
    std::this_thread::sleep_for(step);
  }
  throw being_edited(path);
}

/// An edit writes its end record last. What stands behind the one before may be cut off again while we look, so no
/// mapping of it is touched.
bool ends_in_end_record(const base::FileDescriptor& file) noexcept {
  std::array<std::byte, zip::end_record_size> end{};
  const off_t at = ::lseek(file.get(), 0, SEEK_END) - std::ssize(end);
  return at >= 0 && ::pread(file.get(), end.data(), end.size(), at) == std::ssize(end) && zip::parse_end_record(end);
}

/// The archive in a part of an open file: mapped, or copied if that was asked for.
Archive archive_in(int descriptor, const base::FilePart& part, const std::filesystem::path& path,
                   const OpenOptions& options) {
  if (options.copy_in) {
    const ByteSpan copy = base::read_in(descriptor, part, zip::alignment_maximum, options.num_threads, path);
    return ArchiveAccess::open(copy.bytes(), copy.owner(), path, options);
  }
  const auto mapping = std::make_shared<const base::MappedFile>(base::MappedFile::map(descriptor, part, path));
  return ArchiveAccess::open(mapping->bytes(), mapping, path, options, mapping->origin());
}

void read_local_headers(const Archive& archive, int descriptor, std::uint64_t begin) {
  const zip::Directory& directory = ArchiveAccess::directory(archive);
  std::vector<std::byte> header;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    header.resize(directory.regular_header_size(i));
    const auto at = static_cast<off_t>(begin + directory.entries()[i].header_offset);
    const ssize_t got = ::pread(descriptor, header.data(), header.size(), at);
    if (got > 0 && got == std::ssize(header)) directory.prove_regular(header, i);
  }
}

Archive open_part(int descriptor, const base::FilePart& part, const std::filesystem::path& path,
                  const OpenOptions& options, LocalHeaders headers) {
  try {
    Archive archive = archive_in(descriptor, part, path, options);
    if (headers == LocalHeaders::read_at_once) read_local_headers(archive, descriptor, part.offset);
    return archive;
  } catch (const Error& error) {
    throw error.with_path(path);
  }
}

/// How to see whether a file is an archive without reading more of it than that takes.
OpenOptions only_looking(OpenOptions options) {
  options.copy_in = false;
  options.prefetch = Prefetch::none;
  return options;
}

}  // namespace

Error with_way_back(const Error& error, Bytes file, const OpenOptions& options) {
  if (!is_fault_of_end(error.code())) return error;
  const std::vector<std::uint64_t> ends = zip::state_ends(file);
  if (ends.empty() || !opens_as_archive(file.first(ends.back()), options)) return error;
  const std::uint64_t end = ends.back();
  const bool without_end = error.code() == Code::zip_end_missing || error.code() == Code::zip_end_not_last;
  if (without_end && begins_entry(file.subspan(end))) {
    return {Code::archive_torn,
            concat("an edit did not finish, or a copy was cut short: ", file.size() - end,
                   " bytes follow the last whole state; `onnxar recover` cuts them off"),
            {"", end},
            error.path()};
  }
  return {error.code(),
          concat(error.message(), "; the first ", end, " bytes are an archive: `onnxar recover` cuts off the rest"),
          error.finding().place, error.path()};
}

Archive open_at_rest(const std::filesystem::path& path, const OpenOptions& options, LocalHeaders headers) {
  const base::FileDescriptor file = base::open_file(path, base::Access::read);
  if (ends_in_end_record(file)) {
    try {
      return open_part(file.get(), {}, path, options, headers);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
    }
  }
  // It is broken, or somebody is at work on it: while nobody is, it is what it is.
  if (base::try_lock(file, base::Lock::shared) == base::Locking::busy) throw being_edited(path);
  return open_locked(file, path, options, headers);
}

Archive open_range(const DescriptorRange& range, const OpenOptions& options, const std::filesystem::path& path,
                   LocalHeaders headers) {
  if (range.offset % zip::alignment_minimum != 0) {
    throw Error(Code::usage_argument,
                concat("an archive in another file begins at a multiple of ", zip::alignment_minimum,
                       ", as its tensors are aligned; offset ", range.offset, " is none"),
                {}, path);
  }
  return open_part(range.descriptor, {range.offset, range.length}, path, options, headers);
}

Archive open_locked(const base::FileDescriptor& file, const std::filesystem::path& path, const OpenOptions& options,
                    LocalHeaders headers) {
  try {
    // Only what is an archive is worth reading as a whole.
    if (options.copy_in) static_cast<void>(open_part(file.get(), {}, path, only_looking(options), headers));
    return open_part(file.get(), {}, path, options, headers);
  } catch (const Error& error) {
    if (!is_fault_of_end(error.code())) throw;  // nothing needs to be mapped for those
    const auto mapping = base::MappedFile::map(file, path);
    throw with_way_back(error, mapping.bytes(), options);
  }
}

base::FileDescriptor lock_for_editing(const std::filesystem::path& path) {
  while (true) {
    base::FileDescriptor file = base::open_file(path, base::Access::read_and_write);
    if (lock_with_patience(file, base::Lock::exclusive, path) == base::Locking::failed) {
      throw base::system_error(errno, "cannot lock", path);
    }
    // Who held the lock may have put another file in its place.
    if (base::identity_of(path) == base::identity_of(file)) return file;
  }
}

base::FileDescriptor lock_for_replacing(const std::filesystem::path& path) {
  std::error_code ignored;
  while (std::filesystem::is_regular_file(path, ignored)) {
    base::FileDescriptor file;
    try {
      file = base::open_file(path, base::Access::read);
    } catch (const Error&) {
      break;  // whatever may not be read may be replaced
    }
    if (lock_with_patience(file, base::Lock::shared, path) == base::Locking::failed) break;
    if (base::identity_of(path) == base::identity_of(file)) return file;
  }
  return {};
}

}  // namespace onnxar
