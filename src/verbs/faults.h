// The errors of `check`, for readers that must refuse a faulty archive.
#pragma once

#include "onnxar/options.h"
#include "source/resolver.h"

namespace onnxar {

/// Throws the first error that `check` without `data` finds in the archive of `source`. Cost: as `check`.
void refuse_faults(Resolver& source, const LoadOptions& options);

}  // namespace onnxar
