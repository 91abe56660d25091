// Finds entries by their bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// An index of some entries of an archive by size and CRC-32. The archive must outlive it.
class EntriesByContent {
 public:
  explicit EntriesByContent(const Archive& archive) : archive_(archive) {}

  /// Makes `entry` a candidate. Cost: O(log entries); its bytes are not read.
  void add(const ArchiveEntry& entry) { by_size_and_crc_.emplace(std::pair(entry.size, entry.crc32), entry.index); }

  /// Returns an entry with the bytes of `source`. Reads `source` only if an entry has its size, and an entry only if
  /// the CRC-32 is also equal. Compares only the first few entries of one CRC-32; if it misses an equal one, the caller
  /// writes the bytes a second time.
  [[nodiscard]] std::optional<ArchiveEntry> find(const ByteSource& source) const;

 private:
  const Archive& archive_;
  std::multimap<std::pair<std::uint64_t, std::uint32_t>, std::size_t> by_size_and_crc_;
};

}  // namespace onnxar
