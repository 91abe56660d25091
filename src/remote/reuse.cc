// Finds entries that archives on this machine have, and copies them into a file that is being downloaded.
#include "remote/reuse.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "archive/access.h"
#include "archive/change_detection.h"
#include "archive/opening.h"
#include "base/byte_range.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/kept.h"
#include "base/open_file.h"
#include "base/output_file.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "remote/pieces.h"

namespace onnxar {
namespace {

constexpr std::uint64_t least_reused = 4096;        // bytes; fewer cost less than another range of a request
constexpr std::uint64_t least_shared = 64U << 10U;  // bytes
constexpr std::size_t step = 1U << 20U;             // bytes that stay in a core's cache

using Content = std::pair<std::uint64_t, std::uint32_t>;

/// Copies entries on one thread.
class EntryCopier {
 public:
  explicit EntryCopier(base::Kept<const PartFile> part) : part_(part), buffer_(step) {}

  /// Returns true if the copy has the entry's CRC-32.
  bool copy(const ReusableEntry& entry, const OldArchive& old) {
    const std::uint64_t from = old.archive.locate(entry.entry).offset;
    const base::ByteRange target{entry.offset, entry.entry.size};
    const base::ByteRange blocks = share(old, from, target);
    crc_ = 0;
    const std::uint64_t before = blocks.offset - target.offset;
    write(old, from, {target.offset, before});
    // The bytes that are shared are summed where they arrived: the archive may change in between.
    pass(part_.handle(), part_.target(), blocks.offset, blocks, false);
    const std::uint64_t rest = before + blocks.length;
    write(old, from + rest, {target.offset + rest, target.length - rest});
    return crc_ == entry.entry.crc32;
  }

 private:
  /// Shares whole blocks. Returns their range in the part; empty at the target's begin if none are shared.
  base::ByteRange share(const OldArchive& old, std::uint64_t from, const base::ByteRange& target) {
    const base::ByteRange none{target.offset, 0};
    if (!may_share_ || target.length < least_shared || (target.offset - from) % base::shared_block != 0) return none;
    const std::uint64_t begin = base::align_up(target.offset, base::shared_block);
    const std::uint64_t length = (target.end() - begin) / base::shared_block * base::shared_block;
    may_share_ = !os::share_blocks(part_.handle(), begin, old.file, from + (begin - target.offset), length);
    return may_share_ ? base::ByteRange{begin, length} : none;
  }

  void write(const OldArchive& old, std::uint64_t from, const base::ByteRange& target) {
    pass(old.file, old.archive.path(), from, target, true);
  }

  /// Reads with system calls: access to a mapping raises SIGBUS if the file was shortened.
  void pass(os::Handle source, const std::filesystem::path& path, std::uint64_t from, const base::ByteRange& target,
            bool is_written) {
    for (std::uint64_t done = 0; done < target.length;) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(step, target.length - done));
      const std::span<std::byte> piece = std::span(buffer_).first(size);
      base::read_fully(source, piece, from + done, path);
      crc_ = base::crc32(crc_, piece);
      if (is_written) part_.write(target.offset + done, piece);
      done += size;
    }
  }

  const PartFile& part_;
  std::vector<std::byte> buffer_;
  bool may_share_ = true;
  std::uint32_t crc_ = 0;
};

/// Returns true if the copy is right, false if the archive on this machine is damaged: its other entries can be used.
/// Throws io.changed if it was changed.
bool copy_or_leave(const ReusableEntry& entry, const OldArchive& old, EntryCopier& copier) {
  try {
    if (copier.copy(entry, old)) return true;
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;
  }
  if (is_changed(old.archive)) throw base::changed_while_read(old.archive.path());
  return false;
}

}  // namespace

OldArchive OldArchive::open(const std::filesystem::path& path) {
  os::File file = base::open_file(path, os::Access::read);
  Archive archive = open_range(file, {}, {}, path);
  return {std::move(file), std::move(archive)};
}

std::vector<OldArchive> old_archives(const std::filesystem::path& output, const GetOptions& options) {
  std::vector<OldArchive> archives;
  for (const std::filesystem::path& path : options.reuse) archives.push_back(OldArchive::open(path));
  if (!options.output.overwrite) return archives;
  try {
    archives.push_back(OldArchive::open(output));
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): there is none, or it is not an archive
  }
  return archives;
}

std::vector<ReusableEntry> reusable_entries(const zip::Directory& wanted, std::span<const Archive* const> archives) {
  std::map<Content, std::pair<std::size_t, ArchiveEntry>> known;
  for (std::size_t i = 0; i < archives.size(); ++i) {
    for (const ArchiveEntry& entry : archives[i]->entries()) {
      if (entry.size >= least_reused) known.try_emplace({entry.size, entry.crc32}, i, entry);
    }
  }
  std::vector<ReusableEntry> found;
  for (std::size_t i = 0; i < wanted.entries().size(); ++i) {
    const zip::DirectoryEntry& entry = wanted.entries()[i];
    const auto same = known.find({entry.size, entry.crc32});
    if (same == known.end()) continue;
    found.push_back({i, same->second.first, same->second.second, wanted.likely_data_offset(i)});
  }
  return found;
}

std::vector<ReusableEntry> reusable_entries(const zip::Directory& wanted, std::span<const OldArchive> archives) {
  std::vector<const Archive*> opened;
  for (const OldArchive& old : archives) opened.push_back(&old.archive);
  return reusable_entries(wanted, opened);
}

std::uint64_t bytes_of(std::span<const ReusableEntry> entries) {
  std::uint64_t bytes = 0;
  for (const ReusableEntry& entry : entries) bytes += entry.entry.size;
  return bytes;
}

std::vector<bool> copy_entries(std::span<const ReusableEntry> entries, std::span<const OldArchive> archives,
                               std::size_t count, PartFile& part, std::size_t threads, base::SharedProgress& progress) {
  std::vector<ReusableEntry> wanted;
  std::ranges::copy_if(entries, std::back_inserter(wanted), [&part](const ReusableEntry& entry) {
    return !part.ranges().has({entry.offset, entry.entry.size});
  });
  std::vector<bool> copied(count);
  std::mutex noting;
  std::atomic<std::size_t> next = 0;
  const std::size_t workers =
      std::min(base::threads_for(bytes_of(wanted), threads), std::max<std::size_t>(wanted.size(), 1));
  base::parallel_for(workers, workers, [&](std::size_t) {
    EntryCopier copier(part);
    for (std::size_t i = next++; i < wanted.size(); i = next++) {
      if (!copy_or_leave(wanted[i], archives[wanted[i].old], copier)) continue;
      const std::scoped_lock lock(noting);
      const std::uint64_t before = part.ranges().bytes();
      part.note_copy({wanted[i].offset, wanted[i].entry.size});
      copied[wanted[i].index] = true;
      progress.add(part.ranges().bytes() - before);
    }
  });
  return copied;
}

}  // namespace onnxar
