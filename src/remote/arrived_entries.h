// Entries that are verified while others are downloaded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "base/joined_thread.h"
#include "base/mapped_file.h"
#include "remote/part_file.h"
#include "zip/directory.h"

namespace onnxar {

/// Compares the CRC-32 of each entry when its last piece came, on a thread of its own: the network need not wait, and
/// the bytes are still in memory. Without a thread nothing is verified. Threads: one calls.
class ArrivedEntries {
 public:
  /// `directory` is that of the file on the server, and `part` what of it is here; the pieces that it has count as
  /// arrived. Both must outlive this. REQUIRES: `part` has the size of the file.
  ArrivedEntries(const zip::Directory& directory, const PartFile& part, std::uint64_t size);
  ArrivedEntries(const ArrivedEntries&) = delete;
  ArrivedEntries& operator=(const ArrivedEntries&) = delete;
  ~ArrivedEntries() { end(Rest::left); }

  /// Tells that a piece came. Errors: those of an entry that was found wrong, now or before: zip.data.crc; as
  /// Archive::locate.
  void add(std::uint64_t piece);
  /// Waits for the entries that came. Returns whether each entry was verified. Errors: as `add`.
  std::vector<bool> finish();

 private:
  enum class Rest : std::uint8_t { verified, left };

  void count(std::uint64_t piece, std::deque<std::size_t>& complete);
  void end(Rest rest) noexcept;
  void work() noexcept;
  void verify(std::size_t index) const;

  const zip::Directory& directory_;
  base::MappedFile file_;
  std::vector<std::uint64_t> missing_;  // pieces of each entry

  std::mutex mutex_;
  std::condition_variable told_;
  std::deque<std::size_t> complete_;  // entries that wait
  std::vector<bool> verified_;
  std::exception_ptr fault_;
  bool ended_ = false;
  std::optional<base::JoinedThread> thread_;
};

}  // namespace onnxar
