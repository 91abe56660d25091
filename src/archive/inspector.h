// What `check` and `ls` need of an archive beyond its public face.
#pragma once

#include "onnxar/archive.h"
#include "zip/directory.h"

namespace onnxar {

class ArchiveInspector {
 public:
  static const zip::Directory& directory(const Archive& archive) noexcept;
};

}  // namespace onnxar
