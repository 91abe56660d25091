// Access to the parts of an Archive that are not public.
#pragma once

#include <filesystem>
#include <memory>

#include "archive/aligned_copies.h"
#include "base/file_origin.h"
#include "onnxar/archive.h"
#include "zip/directory.h"

namespace onnxar {

class ArchiveAccess {
 public:
  /// Opens `bytes`, the contents of the file at `path`. `origin` is what they are mapped from, if anything; it lives as
  /// long as `owner`.
  static Archive open(Bytes bytes, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                      const OpenOptions& options, const base::FileOrigin* origin = nullptr);
  /// What the archive is mapped from; null for bytes in memory.
  static const base::FileOrigin* origin(const Archive& archive) noexcept;
  /// The aligned copies that the archive keeps.
  static AlignedCopies& copies(const Archive& archive) noexcept;
  static const zip::Directory& directory(const Archive& archive) noexcept;
  /// Proves the local header of an entry. Errors: as Archive::locate.
  static zip::LocalEntry local(const Archive& archive, std::size_t index);
};

}  // namespace onnxar
