// Writes a file from front to back in few large calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/file_origin.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/parallel.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Gathers small pieces in one buffer of 1 MiB; writes large pieces to the file directly. If the bytes of a source are
/// mapped from a file, and their offsets in both files are equal modulo `shared_block`, shares the blocks if the
/// file system can (OutputFile::share_at). After any call throws, part of the appended bytes may be missing, so the
/// file must not be published. Not synchronised.
class BufferedOutput {
 public:
  /// The size from which blocks are shared. Sharing is a system call that waits for the file system; below this size a
  /// copy is faster.
  static constexpr std::size_t shared_from = 1U << 20U;

  /// Begins to write at `position`, the end of the bytes that the file already has. With `write_back`, the system
  /// begins to write to the disk at once, which shortens a later sync.
  BufferedOutput(OutputFile file, bool write_back, std::uint64_t position = 0);

  /// Returns the threads for append_with_crc: as many as are useful, and up to `threads` (0: one per core).
  static ThreadPool summing_threads(std::size_t threads);

  void append(Bytes bytes);
  /// Appends all bytes of the source. Throws what reading the source throws, io.*, and io.changed if 64 KiB or more of
  /// the bytes are mapped from a file that was written to meanwhile.
  void append(const ByteSource& source);
  /// Does the same, and continues `crc` over the bytes (crc32.h). The threads sum and write large pieces.
  std::uint32_t append_with_crc(std::uint32_t crc, const ByteSource& source, ThreadPool& threads);
  std::uint32_t append_with_crc(std::uint32_t crc, Bytes bytes, ThreadPool& threads);
  /// Appends zeros up to `position`. REQUIRES: position >= this->position()
  void pad_to(std::uint64_t position);
  /// Replaces appended bytes.
  void overwrite(std::uint64_t offset, Bytes bytes);
  /// Waits until the disk has all bytes that were appended so far.
  void sync();
  /// See OutputFile::begin_last_write.
  void begin_last_write();
  /// Maps appended bytes from the file.
  [[nodiscard]] MappedFile map(std::uint64_t offset, std::uint64_t size);
  /// Returns the offset of the next byte.
  [[nodiscard]] std::uint64_t position() const noexcept { return flushed_ + buffer_.size(); }
  /// Reserves room for a file of `size` bytes; see OutputFile::reserve.
  void reserve(std::uint64_t size) { file_.reserve(size); }
  /// Flushes the buffer and returns the complete file, which is not published yet.
  OutputFile finish() &&;

 private:
  void append_any(Bytes bytes, const FileOrigin* origin);
  std::uint32_t append_any_with_crc(std::uint32_t crc, Bytes bytes, const FileOrigin* origin, ThreadPool& threads);
  [[nodiscard]] Bytes blocks_of(Bytes bytes) const;
  bool append_shared(Bytes bytes, const FileOrigin* origin);
  void write(Bytes bytes);
  void flush();
  void begin_write_back();

  OutputFile file_;
  bool write_back_;
  std::vector<std::byte> buffer_;  // the bytes after flushed_
  std::uint64_t flushed_;
  std::uint64_t written_back_;
};

}  // namespace onnxar::base
