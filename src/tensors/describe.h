// How messages and reports describe a tensor.
#pragma once

#include <string>

#include "onnx/sites.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Names a tensor and its site: `tensor "w" (graph.initializer[3])`.
std::string describe(const onnx::TensorSite& site);

/// Words the warning that a tensor with elements has no data. REQUIRES: site.tensor.lacks_data()
std::string no_data(const onnx::TensorSite& site);

/// The public description of a tensor. Copies its name.
TensorInfo info_of(const onnx::TensorSite& site);

}  // namespace onnxar
