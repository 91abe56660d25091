// How messages and reports describe a tensor.
#pragma once

#include <string>

#include "onnx/sites.h"
#include "onnxar/error.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Names a tensor and its site: `tensor "w" (graph.initializer[3])`.
std::string describe(const onnx::TensorSite& site);

/// The warning that a tensor with elements has no data (R11). `place` is that of the tensor in the input.
/// REQUIRES: site.tensor.lacks_data()
Finding no_data(const onnx::TensorSite& site, Place place);

/// The public description of a tensor. Copies its name.
TensorInfo info_of(const onnx::TensorSite& site);

}  // namespace onnxar
