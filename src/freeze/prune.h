// What a model's outputs need.
#pragma once

#include "onnxar/model/freeze.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Takes out what the outputs of the graph do not need, and counts it. Errors: onnx.graph.*,
/// onnx.tensor.no_data; the model is then changed in part.
void keep_what_is_reached(schema::ModelProto& model, FreezeReport& report);

/// Whether a tensor has elements, and the model has nothing for them.
bool is_open(const schema::TensorProto& tensor);

}  // namespace onnxar
