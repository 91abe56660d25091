// Entries that are verified while others are downloaded.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_range.h"
#include "base/kept.h"
#include "base/mapped_file.h"
#include "base/parallel.h"
#include "remote/part_file.h"
#include "zip/directory.h"

namespace onnxar {

/// Compares the CRC-32 of each entry when its last byte came, on a thread of its own: the network need not wait, and
/// the bytes are still in memory. Threads: one calls.
class ArrivedEntries {
 public:
  /// `directory` is the directory of the file on the server, and `part` the ranges of it that have arrived. `verified`
  /// tells which entries need not be verified; empty: none. With `threads` of 1, or if the system starts none, only
  /// `finish` verifies; 0: as many as there are cores. REQUIRES: `part` has the size of the file. Throws what
  /// `MappedFile::map` throws.
  ArrivedEntries(base::Kept<const zip::Directory> directory, const PartFile& part, std::size_t threads,
                 std::vector<bool> verified = {});
  ArrivedEntries(const ArrivedEntries&) = delete;
  ArrivedEntries& operator=(const ArrivedEntries&) = delete;
  ~ArrivedEntries() { stop(); }

  /// Reports that ranges arrived, each byte once. Throws the error of an entry that was found wrong: zip.data.crc or
  /// what `Archive::locate` throws.
  void add(std::span<const base::ByteRange> ranges);
  /// Verifies what arrived and was not verified yet, with all threads. Returns whether each entry was verified. Throws
  /// what `add` throws.
  std::vector<bool> finish();

 private:
  void count(const base::ByteRange& range, std::deque<std::size_t>& complete);
  void start();
  void stop() noexcept;
  void work() noexcept;
  [[nodiscard]] Bytes data_of(std::size_t index) const;
  [[nodiscard]] bool is_right(std::size_t index) const noexcept;
  void expect_right(std::size_t index) const;

  const zip::Directory& directory_;
  base::MappedFile file_;
  std::size_t threads_;
  std::vector<std::uint64_t> missing_;  // bytes of each entry

  std::mutex mutex_;
  std::condition_variable told_;
  std::deque<std::size_t> complete_;  // entries that wait
  std::vector<bool> verified_;
  std::optional<std::size_t> wrong_;
  std::atomic<bool> stopped_ = false;
  std::optional<base::JoinedThread> thread_;
};

}  // namespace onnxar
