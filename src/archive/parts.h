// What an Archive holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/file_origin.h"
#include "base/memory.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"

namespace onnxar {

// Aligned copies of bytes that an archive holds at unaligned addresses.

/// A cache of copies. Each copy begins at a multiple of 64, is made once per key, and is shared with the callers that
/// received it. Threads: any number may call concurrently; a caller waits while a copy is being made.
class AlignedCopies {
 public:
  static constexpr std::size_t alignment = default_alignment;

  /// Identifies a copy by the position of the original in the model.
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  /// Returns the copy with this key. The first call for a key reads it from `source`. If the cache would exceed `limit`
  /// bytes, only the returned span owns the copy. Errors: std::bad_alloc and the errors of `source`; a failed copy is
  /// not kept.
  ByteSpan get(const Key& key, const ByteSource& source, std::uint64_t limit);

 private:
  std::mutex mutex_;
  std::map<Key, ByteSpan> kept_;
  std::uint64_t bytes_ = 0;
};

struct Archive::Parts {
  /// What all views of one opened archive share.
  struct Opened {
    Bytes file;
    std::shared_ptr<const void> owner;
    std::filesystem::path path;
    zip::Directory directory;
    const base::FileOrigin* origin = nullptr;    // lives as long as `owner`
    const base::RangedMemory* ranges = nullptr;  // likewise; null: all bytes are at hand
  };

  std::shared_ptr<Opened> opened;
  std::size_t model = 0;                                                      // the index of its entry
  std::unique_ptr<AlignedCopies> copies = std::make_unique<AlignedCopies>();  // const members use it
};

}  // namespace onnxar
