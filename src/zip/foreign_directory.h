// The central directory of a foreign zip: a zip file that another program wrote, and that `repack` and `pack` read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "zip/end_records.h"
#include "zip/names.h"

namespace onnxar::zip {

// The headers of one entry (foreign_headers.cc). The strict profile's rules of form do not apply: flags, times,
// attributes, comments, extra fields, order and padding are free. A header that two readers could interpret differently
// is refused (spec/other-zips.md).

struct ForeignEntry {
  std::string_view name;             ///< a view into the directory's bytes
  std::uint64_t size = 0;            ///< of the inflated data
  std::uint64_t stored_size = 0;     ///< of the data in the file
  std::uint64_t header_offset = 0;   ///< of the local header
  std::uint64_t central_offset = 0;  ///< of the directory header
  std::uint64_t data_offset = 0;
  std::uint64_t end = 0;  ///< of the data, or of the data descriptor that follows it
  std::uint32_t crc32 = 0;
  std::uint16_t flags = 0;      ///< of the directory; bit 11 may differ in the local header
  std::uint64_t alignment = 0;  ///< that a padding record states; 0 without one
  bool deflated = false;
  bool folder = false;  ///< the name ends in a slash, and the entry has no data
};

struct ForeignHeader {
  ForeignEntry entry;
  std::uint64_t length = 0;  ///< with name, extra fields and comment
};

/// Reads the directory header at the front of `directory`, which begins at `offset` in the file. The name is a view
/// into `directory`; with `any_names` it need not be a path. Errors: zip.directory.header, zip.name.*,
/// zip.entry.encrypted, .flags, .method, .disk, .attributes, .version, .sizes, zip.extra.*, zip.zip64.extra,
/// zip.data.inflate (a size that the data cannot have).
ForeignHeader read_foreign_central(Bytes directory, std::uint64_t offset, bool any_names = false);

/// Compares the local header with the entry, and sets where the data begins and ends. Header, data and descriptor must
/// end at or before `limit`, where the directory begins. Values that a streaming writer left at 0 must be in the data
/// descriptor.
/// Errors: zip.entry.bounds, .encrypted, .flags, .version, .descriptor, zip.local.*, zip.extra.*, zip.zip64.extra.
void read_foreign_local(Bytes file, std::uint64_t limit, ForeignEntry& entry);

/// The entries of one foreign zip, in the order of their local headers. Implements the rules of spec/other-zips.md for
/// all verbs that read foreign zips. Holds a copy of the directory's bytes, and does not refer to other parts of the
/// file. Move-only. Threads: const members may run concurrently.
class ForeignDirectory {
 public:
  /// Reads the directory and every local header. Errors: zip.*. Cost: O(entries log entries).
  static ForeignDirectory read(Bytes file, const Limits& limits);

  [[nodiscard]] std::span<const ForeignEntry> entries() const noexcept { return entries_; }
  /// Finds a file by its exact name. Folders are not found, and with Limits::any_names nothing is.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  /// The offset of the directory in the file.
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

/// Returns a source of the data of `entry`, inflated. Does not compare the CRC-32. `file` must outlive the source.
/// `origin` is what `file` is mapped from, or null.
std::unique_ptr<const ByteSource> data_source(Bytes file, const ForeignEntry& entry,
                                              const base::FileOrigin* origin = nullptr);

/// Hands out the data of `entry`, inflated, and compares the CRC-32 at the end.
/// Errors: zip.data.inflate, zip.data.crc, and exceptions of `sink`.
void read_verified(Bytes file, const ForeignEntry& entry, const ByteSink& sink);

/// Compares `crc` with the CRC-32 that the directory states. Errors: zip.data.crc.
void expect_crc(const ForeignEntry& entry, std::uint32_t crc);

// Deflated data (RFC 1951).

/// Whether `compressed` bytes of deflate can inflate to `size` bytes. Allows rejecting a false size before inflating.
bool can_inflate_to(std::uint64_t compressed, std::uint64_t size) noexcept;

/// Inflates `compressed` to exactly `size` bytes. Memory: a buffer and zlib's window of 32 KiB, independent of `size`.
/// `compressed` must outlive the source. Threads: `read` may run several times at once.
class InflateSource final : public ByteSource {
 public:
  /// `place` is the place of the data, for errors.
  InflateSource(Bytes compressed, std::uint64_t size, Place place)
      : compressed_(compressed), size_(size), place_(std::move(place)) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// Errors: zip.data.inflate (the stream is damaged, cut short, followed by other bytes, or inflates to another size).
  void read(const ByteSink& sink) const override;

 private:
  [[noreturn]] void refuse(const std::string& message) const;

  Bytes compressed_;
  std::uint64_t size_;
  Place place_;
};

}  // namespace onnxar::zip
