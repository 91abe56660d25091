// Sources of an entry's bytes that verify them while they are read.
#pragma once

#include <cstdint>
#include <span>

#include "archive/access.h"
#include "base/kept.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Hands out copies of bytes, and sums the copies. The bytes of a mapping would be read twice, once for the sum and
/// once by the sink, and could change in between.
class CopiedSource final : public ByteSource {
 public:
  explicit CopiedSource(base::Kept<Bytes> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override { static_cast<void>(read_and_sum(sink)); }
  /// Hands the bytes out and returns the CRC-32 of the copies.
  [[nodiscard]] std::uint32_t read_and_sum(const ByteSink& sink) const;

 private:
  Bytes bytes_;
};

/// Hands out the entry's bytes and compares their CRC-32 at the end. Up to `threads` threads sum (0: one per core).
/// Entries that an edit appended are handed out as copies, because `undo` and a later edit can replace their bytes. If
/// the sum is wrong because the file was changed, the error is io.changed. The constructor throws what Archive::bytes
/// throws; reading throws zip.data.crc and io.changed.
///
/// If the archive is read in ranges, the entry is fetched when its bytes are handed out, and is not kept.
class EntrySource final : public ByteSource {
 public:
  EntrySource(base::Kept<const Archive> archive, const ArchiveEntry& entry, std::size_t threads = 0);

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override;
  /// Does not visit an entry that may change, because its bytes must be copied.
  void locate(const std::function<void(const Location&)>& visit) const override;
  /// Hands out copies and compares the CRC-32 of the copies.
  void copy(const ByteSink& sink) const;
  /// Copies the bytes to `buffer`, and compares the CRC-32 of the copy. REQUIRES: buffer.size() == size().
  void copy_to(std::span<std::byte> buffer) const;
  /// Returns true if an edit appended the entry, so that `undo` and a later edit can replace its bytes.
  [[nodiscard]] bool may_change() const { return reader().may_change(entry_.index); }
  /// Compares the CRC-32 without handing out bytes. Uses the caller's thread only.
  void verify() const;
  /// Compares the CRC-32 of the bytes and returns them. If the archive is read in ranges, fetches them in one piece and
  /// keeps them.
  [[nodiscard]] Bytes verified() const;

 private:
  void expect(std::uint32_t crc) const;
  [[nodiscard]] EntryReader reader() const { return ArchiveAccess::reader(archive_); }
  [[nodiscard]] bool is_here() const { return reader().file().is_here(); }
  [[nodiscard]] std::uint32_t sum() const;
  template <typename Sink>
  std::uint32_t fetch_and_sum(const Sink& sink) const;

  const Archive& archive_;
  ArchiveEntry entry_;
  Bytes bytes_;
  std::size_t threads_;
};

}  // namespace onnxar
