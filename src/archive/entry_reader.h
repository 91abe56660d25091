// Reads entries of an archive, whose file is in memory or is read in ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "archive/archive_file.h"
#include "base/byte_range.h"
#include "base/kept.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"

namespace onnxar {

/// Reads entries of one archive. A small value. The functions of the directory prove local headers; if the file is read
/// in ranges, the bytes that they read are fetched first. Threads: any.
class EntryReader {
 public:
  EntryReader(base::Kept<const zip::Directory> directory, const ArchiveFile& file) noexcept
      : directory_(&directory.get()), file_(file) {}

  [[nodiscard]] const ArchiveFile& file() const noexcept { return file_; }
  /// Returns where the bytes of an entry are. Proves the local header if it is in memory, and otherwise fetches
  /// nothing: `read` does that later. Throws what `prove` throws.
  [[nodiscard]] Bytes place(std::size_t index) const;
  /// Fetches `part`, counted from the first byte of the entry's data, proves the entry's local header, and returns the
  /// part. Makes one call of the source if the data is where the directory suggests. Throws what `prove` throws.
  /// REQUIRES: the part lies in the entry.
  Bytes read(std::size_t index, const base::ByteRange& part) const;
  /// Fetches and proves, in one call of the source, the data and local headers of several entries. Does nothing if the
  /// file is in memory. Throws what `prove` throws.
  void fetch(std::span<const std::size_t> indices) const;
  /// Fetches, in one call, the local headers of all entries that were not proved yet. Does not prove them.
  void fetch_headers() const;
  /// Prepares the bytes of entries for reading, as Archive::prefetch does. Throws what `prove` throws.
  void prefetch(std::span<const std::size_t> indices, Prefetch how) const;
  /// Proves the local header of an entry from the first bytes of `whole(index)`, which the caller has read, and returns
  /// where the data is. REQUIRES: `room` is all of that range or at least 64 KiB. Throws what `prove` throws.
  [[nodiscard]] std::uint64_t data_offset_in(Bytes room, std::size_t index) const;
  /// Returns the range of an entry: local header, data, and everything up to the next entry.
  [[nodiscard]] base::ByteRange whole(std::size_t index) const noexcept;
  /// True if an edit appended the entry, so that `undo` and a later edit can replace its bytes. False if the file is
  /// read in ranges.
  [[nodiscard]] bool may_change(std::size_t index) const;

 private:
  [[nodiscard]] base::ByteRange header(std::size_t index) const noexcept;
  void prove_fetched(std::size_t index) const;

  const zip::Directory* directory_;
  ArchiveFile file_;
};

}  // namespace onnxar
