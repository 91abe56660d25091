// Writing the entries of an archive one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffered_output.h"
#include "base/steps.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"
#include "zip/layout.h"
#include "zip/name_index.h"

namespace onnxar::zip {

/// Copies entries into a file, each at the place that `place` gives it, CRC on the way. Memory: one buffer, and what
/// the directory says of each entry. One call at a time, and none after one that failed (base::Steps).
class Writer {
 public:
  /// Up to `threads` threads (0: as many as there are cores) take part.
  explicit Writer(base::BufferedOutput output, std::size_t threads = 0)
      : output_(std::move(output)), threads_(threads) {}
  /// Goes on after the archive that `before` is the directory of, and lists the first `kept` of its entries.
  /// `before` must outlive the writer; the directory will not be larger than `limits`.
  Writer(base::BufferedOutput output, const Directory& before, std::size_t kept, bool zip64_end, const Limits& limits,
         std::size_t threads = 0);

  /// Errors: zip.name.* (the name breaks a rule or clashes), io.source_size (the source gave another number of bytes
  /// than its size), io.*.
  /// Returns the CRC-32 of what was written.
  std::uint32_t add(std::string_view name, std::uint64_t alignment, const ByteSource& source);

  /// Writes the directory; the file is then complete but not published. `before_end`: whether all else has to be on
  /// the disk before the end record is written, which is what makes a state of it. Errors: io.*; zip.limit.*.
  base::OutputFile finish(base::Sync before_end = base::Sync::none) &&;

  void reserve(std::uint64_t size) {
    steps_.take("reserve", [&] { output_.reserve(size); });
  }
  /// How many entries were added, the name of each, and its data mapped from the file. REQUIRES: index < added().
  [[nodiscard]] std::size_t added() const noexcept { return entries_.size(); }
  [[nodiscard]] std::string_view added_name(std::size_t index) const { return entries_[index].name; }
  [[nodiscard]] base::MappedFile map_added(std::size_t index);
  /// The entries that were there and those that were added, by name, with their sizes. The names live as long as the
  /// writer. Cost: O(entries * log(entries)).
  [[nodiscard]] std::vector<std::pair<std::string_view, std::uint64_t>> sorted_sizes() const;
  [[nodiscard]] const KeptDirectory& kept() const noexcept { return kept_; }

 private:
  /// The name with this index, `added` for the one after the last entry.
  [[nodiscard]] std::string_view name_at(std::size_t index, std::string_view added = {}) const;
  void add_name(std::string_view name);
  /// Whether an entry is in a folder of this name.
  [[nodiscard]] bool is_folder(std::string_view name) const;
  void note_folders(std::string_view name);
  std::uint32_t write(std::string_view name, std::uint64_t alignment, const ByteSource& source);
  base::OutputFile write_directory(base::Sync before_end);
  void check_limits(std::uint64_t directory_size) const;

  base::Steps steps_;
  base::BufferedOutput output_;
  std::size_t threads_ = 0;
  KeptDirectory kept_;
  Limits limits_{~std::uint64_t{0}, ~std::uint64_t{0}};
  std::vector<PlacedEntry> entries_;
  std::span<const DirectoryEntry> kept_entries_;
  NameIndex names_;                   // of the kept entries, then of those that were added
  std::set<std::string> in_folders_;  // folded: names with a slash. Those in one folder are neighbours.
};

}  // namespace onnxar::zip
