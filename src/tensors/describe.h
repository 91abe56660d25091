// How messages name a tensor.
#pragma once

#include <string>

#include "onnx/sites.h"

namespace onnxar {

/// `tensor "w" (graph.initializer[3])`
std::string describe(const onnx::TensorSite& site);

/// The warning about a tensor that should have data and has none. REQUIRES: site.tensor.lacks_data()
std::string no_data(const onnx::TensorSite& site);

}  // namespace onnxar
