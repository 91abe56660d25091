// The bytes of an entry, verified while they are read.
#pragma once

#include <cstdint>

#include "onnxar/archive.h"
#include "onnxar/byte_source.h"

namespace onnxar {

/// Hands out the entry's bytes and compares their CRC-32 at the end. The archive must outlive the source and
/// stay where it is. Errors: as Archive::bytes when made; zip.data.crc when read.
class EntrySource final : public ByteSource {
 public:
  EntrySource(const Archive& archive, const ArchiveEntry& entry);

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override;
  /// Compares the CRC-32 and hands nothing out. One thread.
  void verify() const;

 private:
  void expect(std::uint32_t crc) const;

  const Archive& archive_;
  ArchiveEntry entry_;
  Bytes bytes_;
};

}  // namespace onnxar
