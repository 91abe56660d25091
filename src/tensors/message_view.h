// A tensor's message from any protobuf library, in the form that the wire layer gives.
#pragma once

#include "onnx/tensor_view.h"
#include "onnxar/resolve.h"

namespace onnxar {

/// So that both are judged by the same rules. Places are 0. Typed data is known to be there, but not where.
/// Views of the message. Errors: onnx.tensor.dims, onnx.external_data.duplicate_key.
onnx::TensorView view_of(const TensorMessage& message);

}  // namespace onnxar
