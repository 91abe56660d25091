// Copies, at addresses that any load is happy with, of bytes that lie in an archive at odd ones.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "onnxar/bytes.h"

namespace onnxar {

/// Each begins at a multiple of 64. They are made once for each key, kept until this goes, and shared with those who
/// got them. Threads: any number at once; those who want one that is being made wait for it.
class AlignedCopies {
 public:
  static constexpr std::size_t alignment = 64;

  /// What tells one copy from another: the place in the model of what it is a copy of.
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  /// The copy with this key, read from `source` if there is none. One that would bring what is kept above `limit` bytes
  /// is not kept: the span has the only share. Errors: std::bad_alloc; what reading throws, and nothing is then kept.
  ByteSpan get(const Key& key, const ByteSource& source, std::uint64_t limit);

 private:
  std::mutex mutex_;
  std::map<Key, ByteSpan> kept_;
  std::uint64_t bytes_ = 0;
};

}  // namespace onnxar
