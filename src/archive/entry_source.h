// The bytes of an entry, verified while they are read.
#pragma once

#include "onnxar/archive.h"
#include "onnxar/byte_source.h"

namespace onnxar {

/// Hands out the entry's bytes in pieces and compares their CRC-32 at the end. The archive must outlive the source and
/// stay where it is. Errors: as Archive::bytes when made; zip.data.crc when read.
class EntrySource final : public ByteSource {
 public:
  EntrySource(const Archive& archive, const ArchiveEntry& entry);

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override;

 private:
  const Archive& archive_;
  ArchiveEntry entry_;
  Bytes bytes_;
};

}  // namespace onnxar
