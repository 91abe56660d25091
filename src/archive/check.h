// The container's part of `check`.
#pragma once

#include <vector>

#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {

/// Everything that an open archive shows beyond what `open` proved: every local header, the states before each edit,
/// and remarks. CRCs are not looked at.
std::vector<Finding> check_container(const Archive& archive);

}  // namespace onnxar
