// Files mapped for reading, and the file that bytes are mapped from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/open_file.h"
#include "onnxar/bytes.h"

/// The type that public headers have for base::FileOrigin, its only derived class.
struct onnxar::detail::MappedFrom {};

namespace onnxar::base {

/// An open file and a place in it.
struct OpenPlace {
  os::File file;
  std::uint64_t offset = 0;  ///< bytes
};

/// Identifies the file of a mapping. Holds no descriptor, because a process may have more mappings than open files.
/// Sources pass a pointer to it with their bytes (Location), so that a writer can let the file system share blocks.
/// Lives as long as the mapping, and notes it for `mapped_file_at`, unless the file has no name. At most 1024 mappings
/// are noted at a time. Threads: any.
class FileOrigin : public detail::MappedFrom {
 public:
  /// `bytes` are the whole mapping; their first byte is at `offset` of the file at `path`.
  FileOrigin(std::filesystem::path path, const os::FileStatus& status, std::uint64_t offset, Bytes bytes);
  FileOrigin(const FileOrigin&) = delete;
  FileOrigin& operator=(const FileOrigin&) = delete;
  ~FileOrigin();

  /// All bytes of the mapping.
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  /// Opens the file again and returns the place of `part` in it. Empty if `part` is not within this mapping, or if the
  /// path does not lead to the file any more.
  [[nodiscard]] std::optional<OpenPlace> open(Bytes part) const;
  /// Whether the file was written to or cut since it was mapped, or its path leads to a different file. The bytes that
  /// were read may then mix two states of the file. False for a file without a path. A change within one tick of the
  /// clock (some milliseconds) that keeps the size is not noticed.
  [[nodiscard]] bool is_changed() const noexcept;
  /// Refuses bytes that may mix two states of the file: it was written to or cut since it was mapped. A file that only
  /// grew passes, since edits append; so does a file that another one has replaced at its path, since the mapping
  /// keeps it. As above, a change within one tick is not noticed. Errors: io.changed.
  void expect_unwritten() const;
  /// Also refuses a file that only grew: for files that are read as a whole. Throws `io.changed`.
  void expect_whole() const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  enum class Growth : std::uint8_t { allowed, refused };
  void expect_state(Growth growth) const;

  std::filesystem::path path_;
  os::FileStatus status_;
  std::uint64_t offset_;
  Bytes bytes_;
  std::string text_;  // of the path; the table of mappings points to it
  std::size_t place_;
};

/// The path of the noted mapping that holds the address, as escaped_path writes it; empty if none does: for a signal
/// handler, to name the file that an access faulted in. The text is valid as long as the mapping. Safe in signal
/// handlers: it only reads lock-free atomics.
std::string_view mapped_file_at(const void* address) noexcept;

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

/// The files that bytes of a source are mapped from.
class FileOrigins {
 public:
  /// Takes the files of runs of at least `smallest` bytes.
  FileOrigins(const ByteSource& source, std::uint64_t smallest);

  /// The file whose mapping contains all of `bytes`, or null. Cost: O(log files).
  [[nodiscard]] const FileOrigin* find(Bytes bytes) const noexcept;
  /// See FileOrigin. Cost: a system call for each file.
  void expect_unwritten() const;

 private:
  std::vector<const FileOrigin*> by_address_;
};

/// A regular file or a part of one, mapped shared and read-only.
///
/// The size is read once, when the file is opened. If another process shortens the file while it is mapped, access to
/// the missing part faults (SIGBUS on POSIX), which a reader cannot prevent. An empty file is a valid, empty mapping.
/// Owns the mapping, but no open file. Move-only; a moved-from object is empty. Threads: any number may read.
class MappedFile {
 public:
  /// Errors: io.not_found, io.permission, io.not_a_file (a directory, a pipe), io.address_space, io.failed.
  static MappedFile open(const std::filesystem::path& path);
  /// Maps the file that `file` is open on; `path` is for messages.
  static MappedFile map(os::Handle file, const std::filesystem::path& path);
  /// Maps a part of the file. The caller keeps the handle and may close it at once. The first byte has the same offset
  /// in its page as in the file. Errors: as `open`; usage.argument (the part leaves the file).
  static MappedFile map(os::Handle file, const FilePart& part, const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] Bytes bytes() const& noexcept { return bytes_; }
  Bytes bytes() const&& = delete;
  [[nodiscard]] os::FileIdentity identity() const noexcept { return identity_; }

  /// The file of the mapping; null for an empty mapping. The address stays the same as long as the mapping lives, even
  /// if this object moves.
  [[nodiscard]] const FileOrigin* origin() const noexcept { return origin_.get(); }
  /// See FileOrigin::is_changed; false for an empty mapping.
  [[nodiscard]] bool is_changed() const noexcept { return origin_ && origin_->is_changed(); }

 private:
  MappedFile(Bytes bytes, os::FileIdentity identity) noexcept : bytes_(bytes), identity_(identity) {}

  Bytes bytes_;
  os::FileIdentity identity_;
  std::unique_ptr<const FileOrigin> origin_;
};

/// Returns `error`, or io.changed if it is an error of the format and the file was changed.
Error with_change(const Error& error, const MappedFile& file, const std::filesystem::path& path);

}  // namespace onnxar::base
