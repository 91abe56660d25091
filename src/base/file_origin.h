// The file that bytes are mapped from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/open_file.h"
#include "onnxar/bytes.h"

// Keeps track of mapped files, so that a signal handler can name the one that an access faulted in.

namespace onnxar::base {

/// Notes a mapping from its construction to its destruction, which must precede the end of the mapping. At most 1024
/// mappings are noted at a time; further ones have no name in that case. Threads: any.
class MappedRange {
 public:
  /// `path` is empty for a file without a name, which is not noted.
  MappedRange(Bytes mapping, const std::filesystem::path& path);
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;
  ~MappedRange();

 private:
  std::string text_;  // of the path; the table points to it
  std::size_t place_ = 0;
};

/// The path of the noted mapping that holds the address, as escaped_path writes it; empty if none does. The text is
/// valid as long as the mapping. Safe in signal handlers: it only reads lock-free atomics.
std::string_view mapped_file_at(const void* address) noexcept;

}  // namespace onnxar::base

namespace onnxar::detail {

/// The type that public headers have for base::FileOrigin, its only derived class.
struct MappedFrom {};

}  // namespace onnxar::detail

namespace onnxar::base {

/// An open file and a place in it.
struct OpenPlace {
  os::File file;
  std::uint64_t offset = 0;  ///< bytes
};

/// Identifies the file of a mapping. Holds no descriptor, because a process may have more mappings than open files.
/// Sources pass a pointer to it with their bytes (Location), so that a writer can let the file system share blocks.
/// Lives as long as the mapping. Threads: any.
class FileOrigin : public detail::MappedFrom {
 public:
  /// `bytes` are the whole mapping; their first byte is at `offset` of the file at `path`.
  FileOrigin(std::filesystem::path path, const os::FileStatus& status, std::uint64_t offset, Bytes bytes)
      : path_(std::move(path)), status_(status), offset_(offset), bytes_(bytes), range_(bytes, path_) {}

  /// All bytes of the mapping.
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  /// Opens the file again and returns the place of `part` in it. Empty if `part` is not within this mapping, or if the
  /// path does not lead to the file any more.
  [[nodiscard]] std::optional<OpenPlace> open(Bytes part) const;
  /// Whether the file was written to or cut since it was mapped, or its path leads to a different file. The bytes that
  /// were read may then mix two states of the file. False for a file without a path. A change within one tick of the
  /// clock (some milliseconds) that keeps the size is not noticed.
  [[nodiscard]] bool is_changed() const noexcept;

 private:
  std::filesystem::path path_;
  os::FileStatus status_;
  std::uint64_t offset_;
  Bytes bytes_;
  MappedRange range_;
};

/// A source of bytes of a mapping, which must outlive it.
class MappedSource final : public ByteSource {
 public:
  /// `origin` is null for bytes that are only in memory.
  MappedSource(Bytes bytes, const FileOrigin* origin) : bytes_(bytes), origin_(origin) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override { sink(bytes_); }
  void locate(const std::function<void(const Location&)>& visit) const override { visit({bytes_, false, origin_}); }

 private:
  Bytes bytes_;
  const FileOrigin* origin_;
};

/// Finds the file that bytes of a source are mapped from.
class FileOrigins {
 public:
  /// Finds nothing.
  FileOrigins() = default;
  /// Finds the files of runs of at least `smallest` bytes.
  FileOrigins(const ByteSource& source, std::uint64_t smallest);

  /// The file whose mapping contains all of `bytes`, or null. Cost: O(log files).
  [[nodiscard]] const FileOrigin* find(Bytes bytes) const noexcept;

 private:
  std::vector<const FileOrigin*> by_address_;
};

}  // namespace onnxar::base
