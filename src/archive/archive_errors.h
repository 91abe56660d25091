// Completes the errors of opening an archive and of using its entries.
#pragma once

#include "base/ranged_memory.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Adds a hint if the fault is one that zip tools usually cause: it names the verb that makes an archive of the file.
/// Of a file that is read by ranges (`ranges` is not null), looks at its first bytes only.
Error with_foreign_hint(const Error& error, Bytes file, const base::RangedMemory* ranges);

/// Completes an error at the first use of an entry: adds the path, and tells whether the file changed since it was
/// opened.
Error with_archive(const Error& error, const Archive& archive);

}  // namespace onnxar
