// Aligned copies of bytes that lie in an archive at unaligned addresses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "onnxar/bytes.h"

namespace onnxar {

/// Each copy begins at a multiple of 64. It is made once per key, kept as long as this object, and shared with the
/// callers that received it. Threads: any number at once; a caller waits for a copy that is being made.
class AlignedCopies {
 public:
  static constexpr std::size_t alignment = default_alignment;

  /// Identifies a copy: where in the model the original is.
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  /// The copy with this key, read from `source` if there is none yet. If keeping it would take more than `limit` bytes
  /// in all, only the returned span owns it. Errors: std::bad_alloc, and those of reading; nothing is kept then.
  ByteSpan get(const Key& key, const ByteSource& source, std::uint64_t limit);

 private:
  std::mutex mutex_;
  std::map<Key, ByteSpan> kept_;
  std::uint64_t bytes_ = 0;
};

}  // namespace onnxar
