// A file mapped for reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/file_origin.h"
#include "base/open_file.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

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

}  // namespace onnxar::base
