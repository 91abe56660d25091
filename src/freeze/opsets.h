// Removes unused imports of operator sets.
#pragma once

#include <cstdint>

#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Removes imports of domains that no node uses, from the model and its functions, and returns their number. The model
/// keeps imports of its functions' domains, and of domains that their bodies use. ONNX's default domain is kept
/// everywhere. Runtimes need both when they inline functions. If no import is used, all are kept, because a model must
/// import an opset.
std::uint64_t drop_unused_opsets(schema::ModelProto& model);

}  // namespace onnxar
