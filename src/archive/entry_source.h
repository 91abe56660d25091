// The bytes of an entry, verified while they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "onnxar/archive.h"
#include "onnxar/byte_source.h"

namespace onnxar {

/// Hands out the entry's bytes and compares their CRC-32 at the end, which up to `threads` threads take part in (0: as
/// many as there are cores). The archive must outlive the source and stay where it is. Errors: as Archive::bytes when
/// made; zip.data.crc when read.
class EntrySource final : public ByteSource {
 public:
  EntrySource(const Archive& archive, const ArchiveEntry& entry, std::size_t threads = 0);

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override;
  /// Compares the CRC-32 and hands nothing out. One thread.
  void verify() const;

 private:
  void expect(std::uint32_t crc) const;

  const Archive& archive_;
  ArchiveEntry entry_;
  Bytes bytes_;
  std::size_t threads_;
};

/// An entry of which parts are read, by any thread: it is verified as a whole, once.
class SlicedEntry {
 public:
  SlicedEntry(const Archive& archive, const ArchiveEntry& entry) : whole_(archive, entry) {}
  /// Errors: zip.data.crc.
  void verify() const {
    const std::scoped_lock lock(mutex_);
    if (!verified_) whole_.verify();
    verified_ = true;
  }

 private:
  EntrySource whole_;
  mutable std::mutex mutex_;
  mutable bool verified_ = false;
};

/// Hands out a part of an entry that is verified before. Errors: zip.data.crc when read.
class SliceSource final : public ByteSource {
 public:
  SliceSource(std::shared_ptr<const SlicedEntry> entry, Bytes part) : entry_(std::move(entry)), part_(part) {}
  [[nodiscard]] std::uint64_t size() const override { return part_.size(); }
  void read(const ByteSink& sink) const override {
    entry_->verify();
    sink(part_);
  }

 private:
  std::shared_ptr<const SlicedEntry> entry_;
  Bytes part_;
};

}  // namespace onnxar
