// Reads entries of an archive whose file is read by ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/ranges.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"

namespace onnxar {

/// The entries of one archive, whose directory and memory must outlive it. A small value. Local headers are proved by
/// the functions of the directory, and only the bytes that these read are fetched before. Threads: any.
class EntryRanges {
 public:
  EntryRanges(const zip::Directory& directory, const base::RangedMemory& memory) noexcept
      : directory_(&directory), memory_(&memory) {}

  /// Where the data of an entry is if its local header is as the directory suggests: always the same number. The rare
  /// header that is not, before a superseded tail, is found when it is proved.
  [[nodiscard]] std::uint64_t likely_data_offset(std::size_t index) const noexcept;
  /// Proves the local header of an entry. Errors: as Directory::data_offset; those of reading.
  void prove(std::size_t index) const;
  /// Reads all that proving the local header of a proved entry again takes. Errors: those of reading.
  void read_header(std::size_t index) const;
  /// Reads the local headers of all entries that were not proved, at once. Proves nothing.
  void read_headers() const;
  /// Reads `part`, counted from the first byte of the entry's data, and proves the entry's local header. Both take one
  /// call of the source if they lie as the directory suggests. Errors: as `prove`.
  void read(std::size_t index, const base::ByteRange& part) const;
  /// Reads the data and local headers of several entries in one call of the source. Errors: as `prove`.
  void read(std::span<const std::size_t> indices) const;
  /// Proves the local header of an entry from the first bytes of `whole(index)`, which the caller has read, and returns
  /// where the data is. REQUIRES: `room` is all of that range or at least 64 KiB. Errors: as `prove`.
  [[nodiscard]] std::uint64_t data_offset_in(Bytes room, std::size_t index) const;
  /// The range of an entry: local header, data, and what follows up to the next entry.
  [[nodiscard]] base::ByteRange whole(std::size_t index) const noexcept;

 private:
  [[nodiscard]] base::ByteRange header(std::size_t index) const noexcept;
  [[nodiscard]] base::ByteRange tail(std::size_t index) const noexcept;
  void prove_read(std::size_t index) const;

  const zip::Directory* directory_;
  const base::RangedMemory* memory_;
};

}  // namespace onnxar
