// Reduces a model to what its outputs need.
#pragma once

#include "onnxar/model/freeze.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Removes what the outputs of the graph do not need, and counts it. Errors: onnx.graph.*, onnx.tensor.no_data; the
/// model may then be partly changed.
void prune(schema::ModelProto& model, FreezeReport& report);

}  // namespace onnxar
