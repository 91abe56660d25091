#include "archive/entry_source.h"

#include <algorithm>
#include <vector>

#include "archive/access.h"
#include "archive/changed.h"
#include "base/crc32.h"
#include "base/paths.h"
#include "zip/crc_fault.h"
#include "zip/format.h"

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
    : archive_(archive), entry_(entry), bytes_(archive.bytes(entry)), threads_(threads) {}

bool EntrySource::may_change() const { return entry_.index >= ArchiveAccess::directory(archive_).first_appended(); }

void EntrySource::copy(const ByteSink& sink) const { expect(CopiedSource(bytes_).read_and_sum(sink)); }

void EntrySource::copy_to(std::span<std::byte> buffer) const {
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
  if (may_change()) return copy(sink);
  // No edit changes these bytes, so the sink and the sum may read them independently, and on different threads.
  expect(base::crc32_while(0, bytes_, [&] { sink(bytes_); }, threads_));
}

void EntrySource::locate(const std::function<void(const Location&)>& visit) const {
  if (!may_change()) visit({bytes_, true, ArchiveAccess::origin(archive_)});
}

void EntrySource::verify() const { expect(base::crc32(0, bytes_)); }

void EntrySource::expect(std::uint32_t crc) const {
  if (crc == entry_.crc32) return;
  // If the sum is right now, it was wrong only because bytes changed while they were summed.
  if (is_changed(archive_) || base::crc32(0, bytes_) == entry_.crc32) throw changed_while_read(archive_.path());
  const Place place{std::string(entry_.name), archive_.locate(entry_).offset};
  throw zip::crc_fault(place, "the archive", entry_.crc32, crc, bytes_).with_path(archive_.path());
}

void SlicedEntry::locate(Bytes part, const std::function<void(const Location&)>& visit) const {
  whole_.locate([&](Location run) {
    run.bytes = part;
    visit(run);
  });
}

Bytes SlicedEntry::verified(Bytes part) const {
  verify_once();
  if (!spool_) return part;
  return copy_.subspan(static_cast<std::size_t>(part.data() - bytes_.data()), part.size());
}

void SlicedEntry::verify_once() const {
  const std::scoped_lock lock(mutex_);
  if (verified_) return;
  if (spool_) {
    static_cast<void>(spool_->place_of(header_offset_, bytes_.size()));
    copy_ = spool_->bytes(header_offset_, [this](const ByteSink& sink) { whole_.copy(sink); });
  } else {
    whole_.verify();
  }
  verified_ = true;
}

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
    sliced = std::make_shared<const SlicedEntry>(std::move(whole), entry, archive.bytes(entry), std::move(spool));
  }
  return std::make_shared<SliceSource>(sliced, part);
}

}  // namespace onnxar
