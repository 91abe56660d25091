// The bytes of an entry, verified while they are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "archive/spool.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Hands out copies of bytes, and sums the copies. Bytes of a mapping would be read twice, once for the sum and once by
/// the sink, and could change in between.
class CopiedSource final : public ByteSource {
 public:
  explicit CopiedSource(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override { static_cast<void>(read_and_sum(sink)); }
  /// Hands the bytes out and returns the CRC-32 of the copies.
  [[nodiscard]] std::uint32_t read_and_sum(const ByteSink& sink) const;

 private:
  Bytes bytes_;
};

/// Hands out the entry's bytes and compares their CRC-32 at the end. Up to `threads` threads sum (0: as many as there
/// are cores). Entries that an edit appended are handed out as copies, as `undo` and another edit may replace the
/// bytes. If the sum is wrong because the file was changed, the error is io.changed. The archive must outlive the
/// source and must not be moved. Errors: as Archive::bytes when made; zip.data.crc, io.changed when read.
class EntrySource final : public ByteSource {
 public:
  EntrySource(const Archive& archive, const ArchiveEntry& entry, std::size_t threads = 0);

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override;
  /// Not of an entry that may change: copies of it are handed out.
  void locate(const std::function<void(const Location&)>& visit) const override;
  /// Hands out copies and compares the CRC-32 of those.
  void copy(const ByteSink& sink) const;
  /// Fills `buffer`, and compares the CRC-32 of what it then holds. REQUIRES: buffer.size() == size()
  void copy_to(std::span<std::byte> buffer) const;
  /// Whether an edit appended the entry, so that it is copied.
  [[nodiscard]] bool may_change() const;
  /// Compares the CRC-32 without handing out bytes. On the caller's thread alone.
  void verify() const;

 private:
  void expect(std::uint32_t crc) const;

  const Archive& archive_;
  ArchiveEntry entry_;
  Bytes bytes_;
  std::size_t threads_;
};

/// An entry of which parts are read, by any thread. It is verified as a whole, once. If it may change, it is copied to
/// the spool; a copy in memory could be as large as the file.
class SlicedEntry {
 public:
  /// `spool` has room for the entry; it is null only if the entry may not change.
  SlicedEntry(EntrySource whole, const ArchiveEntry& entry, Bytes bytes, std::shared_ptr<Spool> spool)
      : whole_(std::move(whole)), header_offset_(entry.header_offset), bytes_(bytes), spool_(std::move(spool)) {}
  /// `part` of the entry, verified: in the mapping or in the spool. Errors: zip.data.crc, io.changed; for copying io.*.
  [[nodiscard]] Bytes verified(Bytes part) const;
  /// Of the same part.
  void locate(Bytes part, const std::function<void(const Location&)>& visit) const;

 private:
  EntrySource whole_;
  std::uint64_t header_offset_;
  Bytes bytes_;
  std::shared_ptr<Spool> spool_;
  mutable std::once_flag verified_;
  mutable Bytes copy_;
};

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

/// Makes sources for parts of entries of one archive, which must outlive them. Not synchronised; the sources are.
class SlicedEntries {
 public:
  /// Copies go to a nameless file in `folder` (empty: the system's folder for temporary files).
  explicit SlicedEntries(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}
  /// A source of `part`, which lies in the entry. Errors: as Archive::bytes; when read, zip.data.crc, io.*.
  [[nodiscard]] std::shared_ptr<const ByteSource> source(const Archive& archive, const ArchiveEntry& entry, Bytes part);

 private:
  std::filesystem::path folder_;
  std::map<std::size_t, std::shared_ptr<const SlicedEntry>> entries_;  // by index
  std::shared_ptr<Spool> spool_;                                       // made for the first entry that may change
};

}  // namespace onnxar
