// Maps files for reading.
#pragma once

#include <filesystem>
#include <memory>

#include "base/file_origin.h"
#include "base/kept.h"
#include "base/open_file.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Maps a regular file or a part of one, shared and read-only.
///
/// The size is read once, when the file is opened. If another process shortens the file while it is mapped, access to
/// the missing part faults (SIGBUS on POSIX); a reader cannot prevent that. An empty file is a valid, empty mapping.
/// Owns the mapping, but no open file. Move-only; a moved-from object is empty. Threads: any number may read.
class MappedFile {
 public:
  /// Maps the file at `path`. Throws io.not_found, io.permission, io.address_space and io.failed, and io.not_a_file for
  /// a folder or a pipe.
  static MappedFile open(const std::filesystem::path& path);
  /// Maps the open file `file`; `path` is for messages.
  static MappedFile map(os::Handle file, const std::filesystem::path& path);
  /// Maps a part of the file. The caller keeps the handle and may close it at once. The first byte has the same offset
  /// in its page as in the file. Throws what `open` throws, and usage.argument if the file does not have this part.
  static MappedFile map(os::Handle file, const FilePart& part, const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] Bytes bytes() const& noexcept { return bytes_; }
  Bytes bytes() const&& = delete;
  [[nodiscard]] os::FileIdentity identity() const noexcept { return identity_; }

  /// Returns the file of the mapping; null for an empty mapping. The address stays the same as long as the mapping
  /// lives, even if this object moves.
  [[nodiscard]] const FileOrigin* origin() const noexcept { return origin_.get(); }
  /// See FileOrigin::is_changed; false for an empty mapping.
  [[nodiscard]] bool is_changed() const noexcept { return origin_ && origin_->is_changed(); }

 private:
  MappedFile(Kept<Bytes> bytes, os::FileIdentity identity) noexcept : bytes_(bytes), identity_(identity) {}

  Bytes bytes_;
  os::FileIdentity identity_;
  std::unique_ptr<const FileOrigin> origin_;
};

}  // namespace onnxar::base
