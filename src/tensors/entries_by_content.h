// Entries found by their bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Finds the entry of an archive that holds given bytes, among those that were added. The archive must outlive it.
class EntriesByContent {
 public:
  explicit EntriesByContent(const Archive& archive) : archive_(archive) {}

  void add(const ArchiveEntry& entry) { by_size_and_crc_.emplace(std::pair(entry.size, entry.crc32), entry.index); }

  /// Reads `source` only if some entry has its size, and an entry only if it also has its CRC. If many entries were
  /// made to have one CRC, only the first few are compared; the caller then writes the bytes once more.
  [[nodiscard]] std::optional<ArchiveEntry> find(const ByteSource& source) const;

 private:
  const Archive& archive_;
  std::multimap<std::pair<std::uint64_t, std::uint32_t>, std::size_t> by_size_and_crc_;
};

}  // namespace onnxar
