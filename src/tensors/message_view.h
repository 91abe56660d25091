// A tensor's message of any protobuf as the wire layer would give it.
#pragma once

#include "onnx/tensor_view.h"
#include "onnxar/resolve.h"

namespace onnxar {

/// For the same judgement as on the wire. Places are 0; of typed data it is known that it is there, and not where.
/// Views of the message. Errors: onnx.tensor.dims, onnx.external_data.duplicate_key.
onnx::TensorView view_of(const TensorMessage& message);

}  // namespace onnxar
