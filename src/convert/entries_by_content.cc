// Compares entries by size, by CRC-32, and then byte for byte.
#include "convert/entries_by_content.h"

#include "base/crc32.h"
#include "base/sources.h"

namespace onnxar {
namespace {

/// The maximum number of entries with one CRC-32 that are compared. A hostile archive may have a million such entries,
/// and comparing each new tensor with all of them would take quadratic time.
constexpr std::size_t most_compared = 4;

}  // namespace

std::optional<ArchiveEntry> EntriesByContent::find(const ByteSource& source) const {
  // Computing the CRC-32 reads the whole source, so the size is looked up first: most new tensors equal no entry.
  const auto of_size = by_size_and_crc_.lower_bound({source.size(), 0});
  if (of_size == by_size_and_crc_.end() || of_size->first.first != source.size()) return std::nullopt;
  const auto [first, last] = by_size_and_crc_.equal_range({source.size(), base::crc32_of(source)});
  std::size_t compared = 0;
  for (auto each = first; each != last && compared < most_compared; ++each, ++compared) {
    const ArchiveEntry entry = archive_.entry(each->second);
    if (base::has_bytes(source, archive_.bytes(entry))) return entry;
  }
  return std::nullopt;
}

}  // namespace onnxar
