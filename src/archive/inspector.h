// What the library itself needs of an archive beyond its public face.
#pragma once

#include <filesystem>
#include <memory>

#include "base/mapped_file.h"
#include "onnxar/archive.h"
#include "zip/directory.h"

namespace onnxar {

class ArchiveInspector {
 public:
  /// An archive in a mapping at hand of the file at `path`. Errors: as Archive::open of that path, but for io.*.
  static Archive open(std::shared_ptr<const base::MappedFile> mapping, const std::filesystem::path& path,
                      const OpenOptions& options = {});
  static const zip::Directory& directory(const Archive& archive) noexcept;
  /// Proves the local header of an entry. Errors: as Archive::locate.
  static zip::LocalEntry local(const Archive& archive, std::size_t index);
};

}  // namespace onnxar
