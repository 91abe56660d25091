// How messages name a tensor.
#pragma once

#include <string>

#include "onnx/sites.h"
#include "onnxar/error.h"

namespace onnxar {

/// Names a tensor and its site: `tensor "w" (graph.initializer[3])`.
std::string describe(const onnx::TensorSite& site);

/// The warning that a tensor with elements has no data (R11). `place` is that of the tensor in the input.
/// REQUIRES: site.tensor.lacks_data()
Finding no_data(const onnx::TensorSite& site, Place place);

}  // namespace onnxar
