// Access to private parts of an Archive, for this library.
#pragma once

#include <filesystem>
#include <memory>

#include "archive/aligned_copies.h"
#include "base/file_origin.h"
#include "onnxar/archive.h"
#include "zip/directory.h"

namespace onnxar {

/// Static functions that open and read an Archive in ways that the public interface does not offer.
class ArchiveAccess {
 public:
  /// Opens `bytes`, the contents of the file at `path`. `origin` is the file that they are mapped from, or null. It
  /// must live as long as `owner`.
  static Archive open(Bytes bytes, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                      const OpenOptions& options, const base::FileOrigin* origin = nullptr);
  /// The same archive with a different model: an entry of it that is a graph, or its own model.
  static Archive view(const Archive& archive, const ArchiveEntry& model);
  /// The file that the archive is mapped from; null for bytes in memory.
  static const base::FileOrigin* origin(const Archive& archive) noexcept;
  /// The aligned copies that the archive keeps.
  static AlignedCopies& copies(const Archive& archive) noexcept;
  static const zip::Directory& directory(const Archive& archive) noexcept;
  /// Proves the local header of an entry. Errors: as Archive::locate.
  static zip::LocalEntry local(const Archive& archive, std::size_t index);
};

}  // namespace onnxar
