// Stores bytes that are too large for memory in a temporary file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Keeps inflated entries in a nameless file, which is mapped as a whole while it is empty: one descriptor and one
/// mapping serve any number of entries. `place_of` assigns a range to an entry, and `bytes` writes it. Entries are
/// identified by their header offsets, which differ within a zip. Threads: all members may be called concurrently.
class Spool {
 public:
  /// Does not create the file yet: it is created in `folder` (empty: the current one) for the first entry. It has room
  /// for `capacity` bytes.
  Spool(std::filesystem::path folder, std::uint64_t capacity) : folder_(std::move(folder)), capacity_(capacity) {}

  /// Returns the range in which the bytes of an entry will be. Pages that were not written take no disk space. Throws
  /// io.*. REQUIRES: the places of all entries, each at a multiple of zip::alignment_minimum, fit the capacity.
  Bytes place_of(std::uint64_t header_offset, std::uint64_t size);
  /// Returns the bytes of an entry. Calls `fill`, which passes the verified bytes to a sink, once per entry, and again
  /// if it threw. REQUIRES: place_of(header_offset, ...) was called. Throws io.*, and what `fill` throws.
  using Fill = std::function<void(const ByteSink&)>;
  Bytes bytes(std::uint64_t header_offset, const Fill& fill);

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool filled = false;
  };

  void make_file();

  std::filesystem::path folder_;
  std::uint64_t capacity_;
  std::mutex mutex_;
  std::optional<base::OutputFile> file_;
  std::optional<base::MappedFile> mapping_;
  base::KeyedMap<std::uint64_t, Place> places_;
  std::uint64_t end_ = 0;
};

}  // namespace onnxar
