// Identifies the file that bytes are mapped from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kept.h"
#include "onnxar/bytes.h"
#include "os/file.h"

/// The type that public headers have for base::FileOrigin, its only derived class.
struct onnxar::detail::MappedFrom {};

namespace onnxar::base {

/// Holds an open file and an offset in it.
struct OpenPlace {
  os::File file;
  std::uint64_t offset = 0;  ///< bytes
};

/// Identifies the file of a mapping. Holds no descriptor, because a process may have more mappings than open files.
/// Sources pass a pointer to it with their bytes (Location), so that a writer can let the file system share blocks.
/// Lives as long as the mapping, and registers it for `mapped_file_at`, unless the file has no name. At most 1024
/// mappings are registered at a time. Threads: any.
class FileOrigin : public detail::MappedFrom {
 public:
  /// `bytes` must be the whole mapping; their first byte is at `offset` of the file at `path`.
  FileOrigin(std::filesystem::path path, const os::FileStatus& status, std::uint64_t offset, Kept<Bytes> bytes);
  FileOrigin(const FileOrigin&) = delete;
  FileOrigin& operator=(const FileOrigin&) = delete;
  ~FileOrigin();

  /// Returns all bytes of the mapping.
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  /// Opens the file again and returns the place of `part` in it. Returns nothing if `part` is not within this mapping,
  /// or if the path no longer leads to the file.
  [[nodiscard]] std::optional<OpenPlace> open(Bytes part) const;
  /// True if the file was written to or truncated since it was mapped, or if its path leads to a different file. The
  /// bytes that were read may then mix two states of the file. False for a file without a path. A change within one
  /// tick of the clock (some milliseconds) that keeps the size is not noticed.
  [[nodiscard]] bool is_changed() const noexcept;
  /// Throws io.changed if the file was written to or truncated since it was mapped: the bytes may mix two states of the
  /// file. Accepts a file that only grew, because edits append, and a file that another one has replaced at its path,
  /// because the mapping keeps the old one. Does not notice a change within one tick, as above.
  void expect_unwritten() const;
  /// Throws io.changed also if the file only grew. For files that are read as a whole.
  void expect_whole() const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  enum class Growth : std::uint8_t { allowed, refused };
  void expect_state(Growth growth) const;

  std::filesystem::path path_;
  os::FileStatus status_;
  std::uint64_t offset_;
  Bytes bytes_;
  std::string text_;  // the path as text; the table of mappings points to it
  std::size_t place_;
};

/// Returns the path of the registered mapping that contains the address, as escaped_path writes it; empty if there is
/// none. Lets a signal handler name the file in which an access faulted. The text is valid as long as the mapping. Safe
/// in signal handlers: only reads lock-free atomics.
std::string_view mapped_file_at(const void* address) noexcept;

/// Hands out bytes of a mapping.
class MappedSource final : public ByteSource {
 public:
  /// `origin` is null for bytes that are not mapped.
  MappedSource(Kept<Bytes> bytes, const FileOrigin* origin) : bytes_(bytes), origin_(origin) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override { sink(bytes_); }
  void locate(const std::function<void(const Location&)>& visit) const override { visit({bytes_, false, origin_}); }

 private:
  Bytes bytes_;
  const FileOrigin* origin_;
};

/// Lists the files that bytes of a source are mapped from.
class FileOrigins {
 public:
  /// Includes only the files of runs of at least `smallest` bytes.
  FileOrigins(const ByteSource& source, std::uint64_t smallest);

  /// Returns the file whose mapping contains all of `bytes`, or null. Cost: O(log files).
  [[nodiscard]] const FileOrigin* find(Bytes bytes) const noexcept;
  /// Calls FileOrigin::expect_unwritten for each file. Cost: a system call for each file.
  void expect_unwritten() const;

 private:
  std::vector<const FileOrigin*> by_address_;
};

}  // namespace onnxar::base
