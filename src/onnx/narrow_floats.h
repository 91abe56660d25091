// Floating point numbers of 16 bits and fewer.
#pragma once

#include <vector>

#include "onnxar/tensor.h"

namespace onnxar::onnx {

/// What each bit pattern of such a type stands for, exactly; empty for every other type.
std::vector<float> values_of_narrow_float(DataType type);

}  // namespace onnxar::onnx
