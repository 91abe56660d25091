// A file mapped for reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/open_file.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// An open file and a place in it.
struct OpenPlace {
  os::File file;
  std::uint64_t offset = 0;  ///< bytes
};

/// A regular file or a part of one, mapped shared and read-only.
///
/// The size is taken once, when the file is opened. If another process shortens the file while it is mapped, access to
/// the missing part faults (SIGBUS on POSIX); a reader of a mapping cannot prevent that. An empty file is a valid,
/// empty mapping. Owns the mapping, but no open file. Move-only; a moved-from object is empty. Threads: read-only after
/// open.
class MappedFile {
 public:
  /// Errors: io.not_found, io.permission, io.not_a_file (a directory, a pipe), io.failed.
  static MappedFile open(const std::filesystem::path& path);
  /// Maps the file that `file` is open on; `path` is for messages.
  static MappedFile map(os::Handle file, const std::filesystem::path& path);
  /// Maps a part of the file. The handle stays the caller's, who may close it at once. The first byte has the same
  /// offset in its page as in the file. Errors: as `open`; usage.argument (the part leaves the file).
  static MappedFile map(os::Handle file, const FilePart& part, const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] Bytes bytes() const& noexcept { return bytes_; }
  Bytes bytes() const&& = delete;
  [[nodiscard]] os::FileIdentity identity() const noexcept { return identity_; }

  /// Where the bytes stand on the disk, if all of them are in one mapping of this class and its path still leads to the
  /// file, which is opened once more. Bytes are handed on as views that know no file; who writes them asks here.
  /// Threads: any.
  static std::optional<OpenPlace> find(Bytes bytes);

  /// Whether the file that the bytes are mapped from was written to or cut since then, or its path leads to another
  /// one; false for bytes that are not mapped, or from a file without a path. So what was read may be of more than one
  /// state. A change within the same tick of the clock (some milliseconds) that keeps the size is not seen. Threads:
  /// any.
  static bool is_changed(Bytes bytes);

 private:
  MappedFile(Bytes bytes, os::FileIdentity identity) noexcept : bytes_(bytes), identity_(identity) {}

  Bytes bytes_;
  os::FileIdentity identity_;
};

}  // namespace onnxar::base
