// Reads the bytes of an entry, in memory or in ranges, and verifies their checksum on the way.
#include "archive/entry_source.h"

#include <algorithm>
#include <vector>

#include "archive/access.h"
#include "archive/change_detection.h"
#include "archive/evidence.h"
#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/kept.h"
#include "base/open_file.h"
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

EntrySource::EntrySource(base::Kept<const Archive> archive, const ArchiveEntry& entry, std::size_t threads)
    : archive_(archive), entry_(entry), bytes_(ArchiveAccess::place(archive, entry)), threads_(threads) {}

/// Reads an entry piece by piece, from its local header on, and returns the CRC-32 of its bytes. For archives that are
/// read in ranges.
template <typename Sink>
std::uint32_t EntrySource::fetch_and_sum(const Sink& sink) const {
  constexpr std::uint64_t step = 16U << 20U;
  const base::ByteRange whole = reader().whole(entry_.index);
  std::vector<std::byte> piece;
  std::uint64_t data = whole.offset;  // offset of the first byte, once the header is proved
  std::uint64_t end = whole.end();
  std::uint32_t crc = 0;
  for (std::uint64_t at = whole.offset; at < end; at += piece.size()) {
    piece.resize(base::in_memory(std::min(step, end - at)));
    ArchiveAccess::file(archive_).copy(at, piece);
    if (at == whole.offset) {
      data = base::annotated(evidence_of(archive_), [&] { return reader().data_offset_in(piece, entry_.index); });
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
  expect(is_here() ? CopiedSource(bytes_).read_and_sum(sink) : fetch_and_sum(sink));
}

void EntrySource::copy_to(std::span<std::byte> buffer) const {
  if (!is_here()) {
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
  if (may_change() || !is_here()) return copy(sink);
  // No edit changes these bytes, so the sink and the sum may read them independently, and on different threads.
  expect(base::crc32_while(0, bytes_, [&] { sink(bytes_); }, threads_));
}

void EntrySource::locate(const std::function<void(const Location&)>& visit) const {
  if (is_here() && !may_change()) visit({bytes_, true, ArchiveAccess::origin(archive_)});
}

std::uint32_t EntrySource::sum() const {
  return is_here() ? base::crc32(0, bytes_) : fetch_and_sum([](Bytes) {});
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
  const bool changed = is_here() && (is_changed(archive_) || base::crc32(0, bytes_) == entry_.crc32);
  if (changed) throw base::changed_while_read(archive_.path());
  const Place place{std::string(entry_.name), ArchiveAccess::directory(archive_).proved_data_offset(entry_.index)};
  throw zip::crc_fault(place, "the archive", entry_.crc32, crc).with_path(archive_.path());
}

}  // namespace onnxar
