// How much a model multiplies and adds.
#pragma once

#include "cost/budget.h"
#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Within a budget for a model of that size: of nodes for which it does not suffice nothing is known.
CostEstimate estimate_cost(const schema::ModelProto& model);
/// Within this budget.
CostEstimate estimate_cost(const schema::ModelProto& model, Budget& budget);

}  // namespace onnxar
