// The central directory of a foreign zip: a zip file that another program wrote, and that `repack` and `pack` read.
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

/// The entries of one foreign zip, in the order of their local headers. spec/other-zips.md lists what is read and what
/// is refused. This class carries out all of it, and every verb that reads foreign zips uses it. It holds a copy of the
/// directory's bytes and refers to no other part of the file. Move-only. Threads: const members may run concurrently.
class ForeignDirectory {
 public:
  /// Reads the directory and every local header. Errors: zip.*. Cost: O(entries log entries).
  static ForeignDirectory read(Bytes file, const Limits& limits);

  [[nodiscard]] std::span<const ForeignEntry> entries() const noexcept { return entries_; }
  /// The file of exactly this name; folders are not found.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  /// The offset of the directory in the file.
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
  std::vector<std::uint32_t> files_;  // indices of the entries that are not folders
  NameIndex index_;                   // of files_
  std::uint64_t offset_ = 0;
};

/// The data of `entry`, inflated; its CRC-32 is not compared. `file` must outlive the source.
std::unique_ptr<const ByteSource> data_source(Bytes file, const ForeignEntry& entry,
                                              const base::FileOrigin* origin = nullptr);

/// Errors: zip.data.crc, unless `crc` is the entry's.
void expect_crc(Bytes file, const ForeignEntry& entry, std::uint32_t crc);

}  // namespace onnxar::zip
