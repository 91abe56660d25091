// An estimate of a model's multiply-adds.
#pragma once

#include "cost/budget.h"
#include "cost/open_dimensions.h"
#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Estimates within the budget for the model's size, for the given sizes of dimensions and values of inputs. Nodes
/// beyond the budget are listed as unknown.
CostEstimate estimate_cost(const schema::ModelProto& model, const Bindings& bindings = {});
/// As above, within a given budget.
CostEstimate estimate_cost(const schema::ModelProto& model, Budget& budget, const Bindings& bindings = {});

}  // namespace onnxar
