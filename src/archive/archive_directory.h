// Reads and proves the directory of an archive.
#pragma once

#include "base/memory.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"

namespace onnxar {

/// Proves what `open` proves of `file`. If `ranges` is not null, the bytes are in its memory, and what the directory's
/// reader wants is read before; otherwise all are at hand. Errors: zip.*, archive.*; those of reading ranges.
zip::Directory read_directory(Bytes file, const base::RangedMemory* ranges, const OpenOptions& options);

}  // namespace onnxar
