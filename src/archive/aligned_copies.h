// Copies bytes that an archive holds at unaligned addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "onnxar/bytes.h"

namespace onnxar {

/// Caches copies of bytes that an archive holds at unaligned addresses. Each copy begins at a multiple of 64, is made
/// once per key, and is shared with the callers that received it. Threads: any number may call concurrently; a caller
/// waits while a copy is being made.
class AlignedCopies {
 public:
  static constexpr std::size_t alignment = default_alignment;

  /// Identifies a copy by the position of the original in the model.
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  /// Returns the copy with this key. The first call for a key reads it from `source`. If the cache would exceed `limit`
  /// bytes, only the returned span owns the copy. Throws std::bad_alloc and what `source` throws; a failed copy is not
  /// kept.
  ByteSpan get(const Key& key, const ByteSource& source, std::uint64_t limit);

 private:
  std::mutex mutex_;
  std::map<Key, ByteSpan> kept_;
  std::uint64_t bytes_ = 0;
};

}  // namespace onnxar
