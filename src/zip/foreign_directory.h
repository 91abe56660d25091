// Reads the central directory of a foreign zip, a zip file that another program wrote, and the data of its entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/file_origin.h"
#include "base/kept.h"
#include "base/mapped_file.h"
#include "onnxar/bytes.h"
#include "zip/end_records.h"
#include "zip/foreign_headers.h"
#include "zip/name_index.h"

namespace onnxar::zip {

/// The entries of one foreign zip, in the order of their local headers. Implements the rules of spec/other-zips.md for
/// all verbs that read foreign zips. Holds a copy of the directory's bytes, and does not refer to other parts of the
/// file. Move-only. Threads: const members may run concurrently.
class ForeignDirectory {
 public:
  /// Reads the directory and every local header. Throws zip.*. Cost: O(entries log entries).
  static ForeignDirectory read(Bytes file, const Limits& limits);

  [[nodiscard]] std::span<const ForeignEntry> entries() const noexcept { return entries_; }
  /// Finds a file by its exact name. Folders are not found, and with Limits::any_names nothing is.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  /// Returns the offset of the directory in the file.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

 private:
  ForeignDirectory() = default;

  void read_headers(Bytes file, const EndOfArchive& end, bool any_names);
  void check_front(Bytes file) const;
  void read_local_headers(Bytes file);
  void check_rivals(Bytes file, std::span<const std::uint64_t> rivals, const Limits& limits) const;
  void index_files();
  void check_folders() const;
  void check_omissions() const;

  std::unique_ptr<std::byte[]> bytes_;
  std::vector<ForeignEntry> entries_;
  std::vector<std::uint32_t> files_;  // indices of the entries that are not folders
  NameIndex index_;                   // positions in files_ by name
  std::uint64_t offset_ = 0;
};

/// Returns a source of the data of `entry`, inflated. Does not compare the CRC-32. `origin` is what `file` is mapped
/// from, or null.
std::unique_ptr<const ByteSource> data_source(base::Kept<Bytes> file, const ForeignEntry& entry,
                                              const base::FileOrigin* origin = nullptr);

/// Passes the inflated data of `entry` to `sink`, and compares the CRC-32 at the end. Throws zip.data.inflate,
/// zip.data.crc, or what `sink` throws.
void read_verified(Bytes file, const ForeignEntry& entry, const ByteSink& sink);

/// Compares `crc` with the CRC-32 that the directory states. Throws zip.data.crc.
void expect_crc(const ForeignEntry& entry, std::uint32_t crc);

}  // namespace onnxar::zip
