// The operator sets that a model imports.
#pragma once

#include <cstdint>

#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Removes imports of domains without a node, from the model and its functions, and returns their number. The model
/// keeps imports of its functions' domains and of what their bodies use, and ONNX's own operators stay everywhere:
/// runtimes need both when they inline functions. If no import is used, all stay, because there must be one.
std::uint64_t drop_unused_opsets(schema::ModelProto& model);

}  // namespace onnxar
