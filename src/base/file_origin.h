// The file that bytes are mapped from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/open_file.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// An open file and a place in it.
struct OpenPlace {
  os::File file;
  std::uint64_t offset = 0;  ///< bytes
};

/// What a mapping knows of its file. It has no descriptor: a process may have more mappings than open files. Sources
/// pass a pointer to it on with their bytes (Location), so that a writer can have the file system share blocks.
/// Lives as long as the mapping. Threads: any.
class FileOrigin {
 public:
  /// `bytes` are the mapping, the first one of which is at `offset` of the file at `path`.
  FileOrigin(std::filesystem::path path, const os::FileStatus& status, std::uint64_t offset, Bytes bytes)
      : path_(std::move(path)), status_(status), offset_(offset), bytes_(bytes) {}

  /// All bytes of the mapping.
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  /// Where bytes of the mapping are in the file, which is opened once more; nothing if they are not all of this
  /// mapping, or if its path does not lead to the file any more.
  [[nodiscard]] std::optional<OpenPlace> open(Bytes part) const;
  /// Whether the file was written to or cut since it was mapped, or its path leads to another one; false for a file
  /// without a path. So the bytes that were read may be of more than one state. A change within one tick of the clock
  /// (some milliseconds) that keeps the size is not seen.
  [[nodiscard]] bool is_changed() const noexcept;

 private:
  std::filesystem::path path_;
  os::FileStatus status_;
  std::uint64_t offset_;
  Bytes bytes_;
};

/// Bytes of a mapping as a source. The mapping must outlive it.
class MappedSource final : public ByteSource {
 public:
  /// `origin` may be null: then the bytes lie in memory alone.
  MappedSource(Bytes bytes, const FileOrigin* origin) : bytes_(bytes), origin_(origin) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override { sink(bytes_); }
  void locate(const std::function<void(const Location&)>& visit) const override { visit({bytes_, false, origin_}); }

 private:
  Bytes bytes_;
  const FileOrigin* origin_;
};

/// The files that the bytes of one source are mapped from.
class FileOrigins {
 public:
  /// None.
  FileOrigins() = default;
  /// Those of runs of at least `smallest` bytes.
  FileOrigins(const ByteSource& source, std::uint64_t smallest);

  /// The one whose mapping all of `bytes` lie in; null if there is none. Cost: O(log files).
  [[nodiscard]] const FileOrigin* find(Bytes bytes) const noexcept;

 private:
  std::vector<const FileOrigin*> by_address_;
};

}  // namespace onnxar::base
