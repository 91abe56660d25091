// The bytes of an archive's file, in memory or read in ranges. Only `ArchiveFile` distinguishes the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/byte_range.h"
#include "base/kept.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/ranged_memory.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"

namespace onnxar {

/// Provides the bytes of a file at addresses: of a mapping or of memory, or of a RangedMemory, which reads ranges when
/// they are needed. A small value. Threads: any.
class ArchiveFile {
 public:
  explicit ArchiveFile(base::Kept<Bytes> bytes) noexcept : bytes_(bytes) {}
  explicit ArchiveFile(base::Kept<const base::RangedMemory> ranges) noexcept
      : bytes_(ranges.get().bytes()), ranges_(&ranges.get()) {}

  /// True if the whole file is in memory. False if it is read in ranges: then all bytes come from one version of the
  /// file (RandomAccess), and are best read once, from front to back.
  [[nodiscard]] bool is_here() const noexcept { return ranges_ == nullptr; }
  /// Returns all bytes. Only those that are here, or that `need` was called for, may be accessed.
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  /// Returns the first `size` bytes of the same file. REQUIRES: it has as many.
  [[nodiscard]] ArchiveFile first(std::size_t size) const noexcept {
    ArchiveFile part = *this;
    part.bytes_ = bytes_.first(size);
    return part;
  }

  /// Reads what is missing of the ranges, in one call of the source, and keeps it. Does nothing if all is here. Throws
  /// what RangedMemory::need throws.
  void need(std::span<const base::ByteRange> ranges) const {
    if (!is_here()) ranges_->need(ranges);
  }
  void need(const base::ByteRange& range) const { need({&range, 1}); }
  /// Returns `need` for readers of directories; an empty function if all is here.
  [[nodiscard]] zip::Need needs() const;
  /// Reads `part` as `need` does and returns it. REQUIRES: it lies in the file.
  [[nodiscard]] Bytes read(const base::ByteRange& part) const {
    need(part);
    return base::section(bytes_, part.offset, part.length);
  }
  /// Fills `target` with the bytes from `offset` on. Keeps none of those that it reads.
  void copy(std::uint64_t offset, std::span<std::byte> target) const;
  /// Prepares `part`, a part of `bytes()`, for reading. Reads ranges only if `how` is Prefetch::populate.
  void prefetch(Bytes part, Prefetch how) const;
  /// Returns the bytes that identify the kind of a file that is not an archive: all that are here, or the first ones.
  [[nodiscard]] Bytes front() const;
  /// Returns the number of threads for work on `bytes` bytes of the file (base::threads_for).
  [[nodiscard]] std::size_t threads_for(std::uint64_t bytes, std::size_t threads) const noexcept {
    return is_here() ? base::threads_for(bytes, threads) : 1;
  }

 private:
  Bytes bytes_;
  const base::RangedMemory* ranges_ = nullptr;  // null: all is here
};

}  // namespace onnxar
