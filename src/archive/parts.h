// What an Archive holds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "archive/aligned_copies.h"
#include "base/file_origin.h"
#include "base/ranged_memory.h"
#include "onnxar/archive.h"
#include "zip/directory.h"

namespace onnxar {

struct Archive::Parts {
  /// What all views of one opened archive share.
  struct Opened {
    Bytes file;
    std::shared_ptr<const void> owner;
    std::filesystem::path path;
    zip::Directory directory;
    const base::FileOrigin* origin = nullptr;    // lives as long as `owner`
    const base::RangedMemory* ranges = nullptr;  // likewise; null: all bytes are at hand
  };

  std::shared_ptr<Opened> opened;
  std::size_t model = 0;                                                      // the index of its entry
  std::unique_ptr<AlignedCopies> copies = std::make_unique<AlignedCopies>();  // const members use it
};

}  // namespace onnxar
