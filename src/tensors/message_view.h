// Converts a tensor message of any protobuf library to the form that the wire parser gives.
#pragma once

#include "onnx/tensor_view.h"
#include "onnxar/resolve.h"

namespace onnxar {

/// Converts `message`, so that the same rules apply to messages and to serialised tensors. The result views the
/// message. All of its offsets are 0, and the ranges of typed fields are unknown. Errors: onnx.tensor.dims,
/// onnx.external_data.duplicate_key.
onnx::TensorView view_of(const TensorMessage& message);

}  // namespace onnxar
