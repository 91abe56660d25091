// Tells zip files of other makers, and files of other kinds, from broken archives.
#pragma once

#include "base/ranged_memory.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Adds a hint if the fault is one that zip tools usually cause: it names the verb that makes an archive of the file.
/// Of a file that is read by ranges (`ranges` is not null), looks at its first bytes only.
Error with_foreign_hint(const Error& error, Bytes file, const base::RangedMemory* ranges);

}  // namespace onnxar
