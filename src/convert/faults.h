// What makes `check` call an archive bad, for those who must not read one that is.
#pragma once

#include "convert/model_source.h"
#include "onnxar/options.h"

namespace onnxar {

/// Throws the first error that `check` without `data` finds in the archive of `source`. Cost: as `check`.
void refuse_faults(ModelSource& source, const LoadOptions& options);

}  // namespace onnxar
