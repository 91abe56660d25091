#include "tensors/entries_by_content.h"

#include "base/crc32.h"
#include "base/keyed_digest.h"

namespace onnxar {
namespace {

/// A hostile archive may have a million entries with one CRC-32. Comparing each new tensor with all of them would take
/// quadratic time.
constexpr std::size_t most_compared = 4;

std::uint32_t crc_of(const ByteSource& source) {
  std::uint32_t crc = 0;
  source.read([&crc](Bytes piece) { crc = base::crc32(crc, piece); });
  return crc;
}

}  // namespace

std::optional<ArchiveEntry> EntriesByContent::find(const ByteSource& source) const {
  // The CRC-32 of the source costs a full read, so the size is looked up first: most new tensors have no counterpart.
  const auto of_size = by_size_and_crc_.lower_bound({source.size(), 0});
  if (of_size == by_size_and_crc_.end() || of_size->first.first != source.size()) return std::nullopt;
  const auto [first, last] = by_size_and_crc_.equal_range({source.size(), crc_of(source)});
  std::size_t compared = 0;
  for (auto each = first; each != last && compared < most_compared; ++each, ++compared) {
    const ArchiveEntry entry = archive_.entry(each->second);
    if (base::has_bytes(source, archive_.bytes(entry))) return entry;
  }
  return std::nullopt;
}

}  // namespace onnxar
