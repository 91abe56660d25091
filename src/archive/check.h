// Checks the container format of an archive.
#pragma once

#include <vector>

#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {

/// Checks what `open` does not: every local header, and the states before each edit (T2). Adds remarks (R1, R10). Does
/// not compare CRCs.
std::vector<Finding> check_container(const Archive& archive);

}  // namespace onnxar
