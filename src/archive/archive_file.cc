// Provides the bytes of an archive's file, and reads those that are not in memory yet.
#include "archive/archive_file.h"

#include <algorithm>

#include "base/byte_range.h"
#include "base/memory.h"

namespace onnxar {

zip::Need ArchiveFile::needs() const {
  if (is_here()) return {};
  return [ranges = ranges_](std::span<const base::ByteRange> wanted) { ranges->need(wanted); };
}

void ArchiveFile::copy(std::uint64_t offset, std::span<std::byte> target) const {
  if (!is_here()) return ranges_->copy(offset, target);
  std::ranges::copy(base::section(bytes_, offset, target.size()), target.begin());
}

void ArchiveFile::prefetch(Bytes part, Prefetch how) const {
  if (is_here()) return base::prefetch(part, how);
  if (how == Prefetch::populate && !part.empty())
    ranges_->need({static_cast<std::uint64_t>(part.data() - bytes_.data()), part.size()});
}

Bytes ArchiveFile::front() const {
  constexpr std::uint64_t small = 1U << 20U, enough = 4096;
  const std::uint64_t size = bytes_.size();
  return is_here() ? bytes_ : read({0, size <= small ? size : enough});
}

}  // namespace onnxar
