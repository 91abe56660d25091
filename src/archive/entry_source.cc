// Reads the bytes of an entry, in memory or in ranges, and verifies their checksum on the way.
#include "archive/entry_source.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "archive/access.h"
#include "archive/opening.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/open_file.h"
#include "zip/format.h"
#include "zip/shared_checks.h"

namespace onnxar {

std::uint32_t CopiedSource::read_and_sum(const ByteSink& sink) const {
  constexpr std::size_t step = 1U << 20U;
  std::vector<std::byte> piece(std::min(step, bytes_.size()));
  std::uint32_t crc = 0;
  for (Bytes rest = bytes_; !rest.empty(); rest = rest.subspan(piece.size())) {
    piece.resize(std::min(piece.size(), rest.size()));
    std::ranges::copy(rest.first(piece.size()), piece.begin());
    crc = base::crc32(crc, piece);
    sink(piece);
  }
  return crc;
}

EntrySource::EntrySource(const Archive& archive, const ArchiveEntry& entry, std::size_t threads)
    : archive_(archive), entry_(entry), bytes_(ArchiveAccess::place(archive, entry)), threads_(threads) {}

bool EntrySource::is_at_hand() const { return ArchiveAccess::ranges(archive_) == nullptr; }

// All bytes of a file that is read by ranges come from one version of it.
bool EntrySource::may_change() const {
  return is_at_hand() && entry_.index >= ArchiveAccess::directory(archive_).first_appended(archive_.file());
}

/// `room` is the front of the entry's range.
std::uint64_t EntrySource::proved_data_offset(Bytes room) const {
  try {
    return ArchiveAccess::entry_ranges(archive_).data_offset_in(room, entry_.index);
  } catch (const Error& error) {
    throw with_archive(error, archive_);
  }
}

/// Reads an entry of an archive by ranges piece by piece, from its local header on, and returns the CRC-32 of its
/// bytes.
template <typename Sink>
std::uint32_t EntrySource::fetch_and_sum(const Sink& sink) const {
  constexpr std::uint64_t step = 16U << 20U;
  const base::ByteRange whole = ArchiveAccess::entry_ranges(archive_).whole(entry_.index);
  std::vector<std::byte> piece;
  std::uint64_t data = whole.offset;  // of the first byte, once the header is proved
  std::uint64_t end = whole.end();
  std::uint32_t crc = 0;
  for (std::uint64_t at = whole.offset; at < end; at += piece.size()) {
    piece.resize(base::in_memory(std::min(step, end - at)));
    ArchiveAccess::ranges(archive_)->copy(at, piece);
    if (at == whole.offset) {
      data = proved_data_offset(piece);
      end = data + entry_.size;
    }
    const std::uint64_t skipped = data > at ? data - at : 0;
    const Bytes found = base::section(piece, skipped, std::min(piece.size() - skipped, end - at - skipped));
    crc = base::crc32(crc, found);
    if (!found.empty()) sink(found);
  }
  return crc;
}

void EntrySource::copy(const ByteSink& sink) const {
  expect(is_at_hand() ? CopiedSource(bytes_).read_and_sum(sink) : fetch_and_sum(sink));
}

void EntrySource::copy_to(std::span<std::byte> buffer) const {
  if (!is_at_hand()) {
    std::span<std::byte> rest = buffer;
    return expect(fetch_and_sum([&rest](Bytes piece) {
      std::ranges::copy(piece, rest.begin());
      rest = rest.subspan(piece.size());
    }));
  }
  constexpr std::size_t step = 256U << 10U;  // fits in a core's L2 cache, so that the sum reads the copy from there
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < buffer.size();) {
    const std::span<std::byte> piece = buffer.subspan(at, std::min(step, buffer.size() - at));
    std::ranges::copy(bytes_.subspan(at, piece.size()), piece.begin());
    crc = base::crc32(crc, piece);
    at += piece.size();
  }
  expect(crc);
}

void EntrySource::read(const ByteSink& sink) const {
  if (may_change() || !is_at_hand()) return copy(sink);
  // No edit changes these bytes, so the sink and the sum may read them independently, and on different threads.
  expect(base::crc32_while(0, bytes_, [&] { sink(bytes_); }, threads_));
}

void EntrySource::locate(const std::function<void(const Location&)>& visit) const {
  if (is_at_hand() && !may_change()) visit({bytes_, true, ArchiveAccess::origin(archive_)});
}

std::uint32_t EntrySource::sum() const {
  return is_at_hand() ? base::crc32(0, bytes_) : fetch_and_sum([](Bytes) {});
}

void EntrySource::verify() const { expect(sum()); }

Bytes EntrySource::verified() const {
  const Bytes bytes = archive_.bytes(entry_);
  expect(base::crc32(0, bytes));
  return bytes;
}

void EntrySource::expect(std::uint32_t crc) const {
  if (crc == entry_.crc32) return;
  // If the sum is right now, it was wrong only because bytes changed while they were summed. Bytes that were fetched
  // are not read again: all of them are those of one version.
  const bool changed = is_at_hand() && (is_changed(archive_) || base::crc32(0, bytes_) == entry_.crc32);
  if (changed) throw changed_while_read(archive_.path());
  const Place place{std::string(entry_.name), ArchiveAccess::directory(archive_).proved_data_offset(entry_.index)};
  throw zip::crc_fault(place, "the archive", entry_.crc32, crc).with_path(archive_.path());
}

/// An entry of which parts are read, by any thread. The whole entry is verified once. If it may change, it is copied to
/// the spool, because a copy in memory could be as large as the file.
class SlicedEntry {
 public:
  /// `spool` has room for the entry; it is null only if the entry may not change.
  SlicedEntry(EntrySource whole, const ArchiveEntry& entry, Bytes bytes, std::shared_ptr<Spool> spool)
      : whole_(std::move(whole)), header_offset_(entry.header_offset), bytes_(bytes), spool_(std::move(spool)) {}
  /// Returns `part` of the verified entry, in the mapping or in the spool. Errors: zip.data.crc, io.changed; io.* when
  /// copying.
  [[nodiscard]] Bytes verified(Bytes part) const {
    verify_once();
    return copy_.subspan(static_cast<std::size_t>(part.data() - bytes_.data()), part.size());
  }
  /// Visits the location of `part`, unless the entry may change.
  void locate(Bytes part, const std::function<void(const Location&)>& visit) const {
    whole_.locate([&](Location run) {
      run.bytes = part;
      visit(run);
    });
  }

 private:
  void verify_once() const {
    const std::scoped_lock lock(mutex_);
    if (verified_) return;
    if (spool_) {
      static_cast<void>(spool_->place_of(header_offset_, bytes_.size()));
      copy_ = spool_->bytes(header_offset_, [this](const ByteSink& sink) { whole_.copy(sink); });
    } else {
      copy_ = whole_.verified();
    }
    verified_ = true;
  }

  EntrySource whole_;
  std::uint64_t header_offset_;
  Bytes bytes_;
  std::shared_ptr<Spool> spool_;
  // A std::once_flag would do, but after an exception some systems' C libraries, that of Windows among them, hang.
  mutable std::mutex mutex_;
  mutable bool verified_ = false;
  mutable Bytes copy_;
};

namespace {

/// Hands out a part of an entry, after the entry was verified. Errors: zip.data.crc when read.
class SliceSource final : public ByteSource {
 public:
  SliceSource(std::shared_ptr<const SlicedEntry> entry, Bytes part) : entry_(std::move(entry)), part_(part) {}
  [[nodiscard]] std::uint64_t size() const override { return part_.size(); }
  void read(const ByteSink& sink) const override { sink(entry_->verified(part_)); }
  void locate(const std::function<void(const Location&)>& visit) const override { entry_->locate(part_, visit); }

 private:
  std::shared_ptr<const SlicedEntry> entry_;
  Bytes part_;
};

}  // namespace

std::shared_ptr<Spool> SlicedEntries::spool_for(const Archive& archive) {
  if (!spool_) {
    // Entries do not overlap, so copies of all of them need at most the size of the file plus their alignment.
    const std::uint64_t room = archive.file().size() + archive.size() * zip::alignment_minimum;
    spool_ = std::make_shared<Spool>(folder_.empty() ? base::temporary_folder() : folder_, room);
  }
  return spool_;
}

std::shared_ptr<const ByteSource> SlicedEntries::source(const Archive& archive, const ArchiveEntry& entry, Bytes part) {
  std::shared_ptr<const SlicedEntry>& sliced = entries_[entry.index];
  if (!sliced) {
    EntrySource whole(archive, entry);
    auto spool = whole.may_change() ? spool_for(archive) : nullptr;
    const Bytes place = ArchiveAccess::place(archive, entry);
    sliced = std::make_shared<const SlicedEntry>(std::move(whole), entry, place, std::move(spool));
  }
  return std::make_shared<SliceSource>(sliced, part);
}

}  // namespace onnxar
