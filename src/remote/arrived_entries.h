// Entries that are verified while others are downloaded.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "base/mapped_file.h"
#include "base/parallel.h"
#include "remote/part_file.h"
#include "zip/directory.h"

namespace onnxar {

/// Compares the CRC-32 of each entry when its last piece came, on a thread of its own: the network need not wait, and
/// the bytes are still in memory. Threads: one calls.
class ArrivedEntries {
 public:
  /// `directory` is that of the file on the server, and `part` what of it is here; the pieces that it has count as
  /// arrived. Both must outlive this. With `threads` of 1, or if the system gives none, only `finish` verifies; 0: as
  /// many as there are cores. REQUIRES: `part` has the size of the file. Errors: as MappedFile::map.
  ArrivedEntries(const zip::Directory& directory, const PartFile& part, std::size_t threads);
  ArrivedEntries(const ArrivedEntries&) = delete;
  ArrivedEntries& operator=(const ArrivedEntries&) = delete;
  ~ArrivedEntries() { stop(); }

  /// Tells that a piece came. Errors: those of an entry that was found wrong: zip.data.crc; as Archive::locate.
  void add(std::uint64_t piece);
  /// Verifies what came and was not verified yet, with all threads. Returns whether each entry was verified. Errors: as
  /// `add`.
  std::vector<bool> finish();

 private:
  void count(std::uint64_t piece, std::deque<std::size_t>& complete);
  void start();
  void stop() noexcept;
  void work() noexcept;
  [[nodiscard]] Bytes data_of(std::size_t index) const;
  [[nodiscard]] bool is_right(std::size_t index) const noexcept;
  void expect_right(std::size_t index) const;

  const zip::Directory& directory_;
  base::MappedFile file_;
  std::size_t threads_;
  std::vector<std::uint64_t> missing_;  // pieces of each entry

  std::mutex mutex_;
  std::condition_variable told_;
  std::deque<std::size_t> complete_;  // entries that wait
  std::vector<bool> verified_;
  std::optional<std::size_t> wrong_;
  std::atomic<bool> stopped_ = false;
  std::optional<base::JoinedThread> thread_;
};

}  // namespace onnxar
