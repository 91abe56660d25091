// What makes `check` call an archive bad, for those who must not read one that is.
#pragma once

#include "onnxar/options.h"
#include "source/model_source.h"

namespace onnxar {

/// Throws the first error that `check` without `data` finds in the archive of `source`. Cost: as `check`.
void refuse_faults(ModelSource& source, const LoadOptions& options);

}  // namespace onnxar
