// What an Archive holds.
#pragma once

#include <filesystem>
#include <memory>

#include "archive/aligned_copies.h"
#include "base/file_origin.h"
#include "base/ranged_memory.h"
#include "onnxar/archive.h"
#include "zip/directory.h"

namespace onnxar {

struct Archive::Parts {
  Bytes file;
  std::shared_ptr<const void> owner;
  std::filesystem::path path;
  zip::Directory directory;
  std::unique_ptr<AlignedCopies> copies = std::make_unique<AlignedCopies>();  // const members use it
  const base::FileOrigin* origin = nullptr;                                   // lives as long as `owner`
  const base::RangedMemory* ranges = nullptr;                                 // likewise; null: all bytes are at hand
};

}  // namespace onnxar
