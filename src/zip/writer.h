// Writes the entries of an archive one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffered_output.h"
#include "base/kept.h"
#include "base/parallel.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"
#include "zip/layout.h"
#include "zip/name_index.h"

namespace onnxar::zip {

/// Copies entries into a file, each to the offset that `place` computes, and computes their CRC-32 while copying.
/// Memory: one buffer, and the name and placement of each entry. Must not be used after a call that failed: its owner
/// sees to that (archive/entry_writer.h).
class Writer {
 public:
  /// Uses up to `threads` threads (0: one per core). Every reader opens an archive within the default limits.
  explicit Writer(base::BufferedOutput output, std::size_t threads = 0, const Limits& limits = {})
      : output_(std::move(output)), threads_(base::BufferedOutput::summing_threads(threads)), limits_(limits) {}
  /// Appends to the archive whose directory is `before`. The new directory repeats its first entries, those in `kept`.
  Writer(base::BufferedOutput output, base::Kept<const Directory> before, const KeptDirectory& kept,
         std::size_t threads, const Limits& limits);

  /// Writes an entry and returns its CRC-32. A large entry gets more than `alignment` (entry_alignment). Throws
  /// zip.name.* (the name breaks a rule or clashes), zip.limit.* (one entry too many), usage.argument (more than
  /// `largest_entry` bytes), io.source_size (the source returned a different number of bytes than its size) or io.*.
  std::uint32_t add(std::string_view name, std::uint64_t alignment, const ByteSource& source);
  /// Writes an entry in pieces that come one after another: `begin` writes the header, `write` the next bytes, and
  /// `end` the CRC-32. Between them only `write` may be called. Throws what `add` throws.
  void begin(std::string_view name, std::uint64_t alignment, std::uint64_t size);
  void write(Bytes bytes);
  std::uint32_t end();

  /// Writes the directory and end records. The file is then complete, but not published. With Sync::full, all other
  /// bytes are on the disk before the end record is written, which makes the new state valid (X3). Calls `before_valid`
  /// just before that, unless it is empty: the last moment to refuse, because bytes that others may have read are not
  /// cut off (X1). Throws io.* or what `before_valid` throws.
  base::OutputFile finish(base::Sync before_end = base::Sync::none, const std::function<void()>& before_valid = {}) &&;

  void reserve(std::uint64_t size) { output_.reserve(size); }
  /// Returns the number of entries that were added.
  [[nodiscard]] std::size_t added() const noexcept { return entries_.size(); }
  /// Returns the name of an added entry. REQUIRES: index < added().
  [[nodiscard]] std::string_view added_name(std::size_t index) const { return entries_[index].name; }
  /// Maps the data of an added entry from the file. REQUIRES: index < added(). Throws io.*.
  [[nodiscard]] base::MappedFile map_added(std::size_t index);
  /// Returns all kept and added entries with their sizes, sorted by name. The names are views that live as long as the
  /// writer. Cost: O(entries * log(entries)).
  [[nodiscard]] std::vector<std::pair<std::string_view, std::uint64_t>> sorted_sizes() const;

 private:
  [[noreturn]] void refuse_size(std::string_view how) const;
  /// Returns the name with this index; `added` for the index after the last entry.
  [[nodiscard]] std::string_view name_at(std::size_t index, std::string_view added = {}) const;

  base::BufferedOutput output_;
  base::ThreadPool threads_;
  Limits limits_;
  KeptDirectory kept_;
  std::uint64_t added_headers_ = 0;  // the size of the directory headers of `entries_`
  std::vector<PlacedEntry> entries_;
  PlacedEntry begun_;                // the entry between `begin` and `end`
  std::uint64_t begun_headers_ = 0;  // added_headers_ after it
  std::span<const DirectoryEntry> kept_entries_;
  WrittenNames names_;  // kept entries first, then added ones
};

}  // namespace onnxar::zip
