// Finds entries of an archive by their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "archive/access.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Indexes some entries of an archive by size and CRC-32.
class EntriesByContent {
 public:
  explicit EntriesByContent(const Archive& archive) : archive_(ArchiveAccess::share(archive)) {}

  /// Makes `entry` a candidate. Cost: O(log entries); its bytes are not read.
  void add(const ArchiveEntry& entry) { by_size_and_crc_.emplace(std::pair(entry.size, entry.crc32), entry.index); }

  /// Returns an entry with the bytes of `source`. Reads `source` only if an entry has its size, and reads an entry only
  /// if the CRC-32 is equal too. Compares only the first few entries with the same CRC-32; if it misses an equal entry,
  /// the caller writes the bytes a second time.
  [[nodiscard]] std::optional<ArchiveEntry> find(const ByteSource& source) const;

 private:
  Archive archive_;
  std::multimap<std::pair<std::uint64_t, std::uint32_t>, std::size_t> by_size_and_crc_;
};

}  // namespace onnxar
