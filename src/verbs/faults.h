// What makes `check` call an archive bad, for those who must not read one that is.
#pragma once

#include "onnxar/options.h"
#include "source/resolver.h"

namespace onnxar {

/// Throws the first error that `check` without `data` finds in the archive of `source`. Cost: as `check`.
void refuse_faults(Resolver& source, const LoadOptions& options);

}  // namespace onnxar
