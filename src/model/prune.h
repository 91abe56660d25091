// Reduces a model to what its outputs need.
#pragma once

#include "onnxar/model/model.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// True if a tensor has elements but the model has no data for them.
bool is_open(const schema::TensorProto& tensor);

/// Removes everything that the outputs of the graph do not need, and counts it. Throws onnx.graph.* or
/// onnx.tensor.no_data. The model may then be partly changed.
void prune(schema::ModelProto& model, FreezeReport& report);

}  // namespace onnxar
