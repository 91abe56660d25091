// Reserves addresses for a whole file, and fills them range by range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/byte_range.h"
#include "base/range_set.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Provides addresses for all bytes of a file that is read in ranges, so that code for mapped files works on them.
/// Pages that were not read have no memory, and access to them faults, so missing bytes are never replaced by zeros.
/// Ranges that were read stay in memory. Not copyable. Threads: any; ranges are read one call at a time.
class RangedMemory {
 public:
  /// Throws io.address_space if the system cannot provide enough addresses for the file.
  explicit RangedMemory(std::shared_ptr<const RandomAccess> source);
  RangedMemory(const RangedMemory&) = delete;
  RangedMemory& operator=(const RangedMemory&) = delete;
  ~RangedMemory();

  /// Returns all bytes of the file. Only those that `need` was called for may be accessed.
  [[nodiscard]] Bytes bytes() const& noexcept { return room_.first(size_); }
  Bytes bytes() const&& = delete;
  [[nodiscard]] const RandomAccess& source() const noexcept { return *source_; }

  /// Reads the missing parts of the ranges in one call of the source. REQUIRES: the ranges lie in the file. Throws
  /// std::bad_alloc, io.failed if there is no memory for the pages, and what the source throws.
  void need(std::span<const ByteRange> ranges) const;
  void need(const ByteRange& range) const { need({&range, 1}); }

  /// Fills `target` with the bytes from `offset` on, without keeping them in this memory. Reads ahead, up to 32 MiB, if
  /// callers read small consecutive ranges. REQUIRES: the range lies in the file. Throws what `need` throws.
  void copy(std::uint64_t offset, std::span<std::byte> target) const;

 private:
  [[nodiscard]] bool has(const ByteRange& range) const;
  [[nodiscard]] std::vector<ByteRange> missing_of(std::span<const ByteRange> ranges) const;
  void fill(std::span<const ByteRange> missing) const;
  void read_ahead(std::uint64_t offset, std::uint64_t length) const;

  std::shared_ptr<const RandomAccess> source_;
  std::size_t size_;
  std::span<std::byte> room_;   // in whole pages
  mutable std::mutex reading_;  // held while the source reads
  mutable std::mutex state_;
  mutable RangeSet present_;              // in whole pages; guarded by `state_`
  mutable std::vector<std::byte> ahead_;  // guarded by `reading_`
  mutable std::uint64_t ahead_at_ = 0;
};

}  // namespace onnxar::base
