// An archive that is read in ranges.
#pragma once

#include <utility>

#include "onnxar/archive.h"

namespace onnxar::python {

/// Its bytes may come from Python code. That takes the interpreter's lock, so no call may hold it while it waits for
/// bytes.
struct RangedArchive : Archive {
  explicit RangedArchive(Archive archive) : Archive(std::move(archive)) {}
};

}  // namespace onnxar::python
