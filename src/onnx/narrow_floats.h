// Values of floating point types of 16 bits or less.
#pragma once

#include <vector>

#include "onnxar/tensor.h"

namespace onnxar::onnx {

/// The exact value of each bit pattern of a floating point type of at most 16 bits, indexed by the pattern. Empty for
/// every other type.
std::vector<float> values_of_narrow_float(DataType type);

}  // namespace onnxar::onnx
