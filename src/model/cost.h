// How much a model multiplies and adds.
#pragma once

#include "onnxar/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

CostEstimate estimate_cost(const schema::ModelProto& model);

}  // namespace onnxar
