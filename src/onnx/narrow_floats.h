// Floating point numbers of 16 bits or less.
#pragma once

#include <vector>

#include "onnxar/tensor.h"

namespace onnxar::onnx {

/// The exact value of each bit pattern of such a type, indexed by the pattern; empty for every other type.
std::vector<float> values_of_narrow_float(DataType type);

}  // namespace onnxar::onnx
