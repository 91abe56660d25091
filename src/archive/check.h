// Checks an archive as a container.
#pragma once

#include <vector>

#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {

/// Proves what `open` left out: every local header and the states before each edit (T2). Adds remarks (R1, R10). Does
/// not compare CRCs.
std::vector<Finding> check_container(const Archive& archive);

}  // namespace onnxar
