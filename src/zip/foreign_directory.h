// The central directory of a zip file of any maker: what `repack` and `pack` read where an archive is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "zip/end_records.h"
#include "zip/foreign_headers.h"
#include "zip/name_index.h"

namespace onnxar::zip {

/// The entries of one zip file, in the order in which they lie in it. What is read and what is refused is written down
/// in spec/other-zips.md: this class is all of it, and every verb that reads zip files of other makers uses it. Holds a
/// copy of the directory's bytes; refers to no other part of the file. Move-only. Threads: const throughout.
class ForeignDirectory {
 public:
  /// Reads the directory and every local header. Errors: zip.*. Cost: O(entries log entries).
  static ForeignDirectory read(Bytes file, const Limits& limits);

  [[nodiscard]] std::span<const ForeignEntry> entries() const noexcept { return entries_; }
  /// The file of exactly this name; folders are not found.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  /// Where the directory begins.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

 private:
  ForeignDirectory() = default;

  void read_headers(Bytes file, const EndOfArchive& end);
  void check_front(Bytes file) const;
  void read_local_headers(Bytes file);
  void check_rivals(std::span<const std::uint64_t> rivals) const;
  void index_files();
  void check_folders() const;
  void check_omissions() const;

  std::unique_ptr<std::byte[]> bytes_;
  std::vector<ForeignEntry> entries_;
  std::vector<std::uint32_t> files_;  // indices of entries that are no folders
  NameIndex index_;                   // of files_
  std::uint64_t offset_ = 0;
};

/// The bytes that were put into `entry`; its CRC-32 is not looked at. `file` must outlive the source.
std::unique_ptr<const ByteSource> data_source(Bytes file, const ForeignEntry& entry);

/// Errors: zip.data.crc, unless `crc` is the entry's.
void expect_crc(Bytes file, const ForeignEntry& entry, std::uint32_t crc);

}  // namespace onnxar::zip
