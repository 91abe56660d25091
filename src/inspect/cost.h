// Estimates the cost of a model.
#pragma once

#include "inspect/budget.h"
#include "inspect/inspection.h"
#include "inspect/open_dimensions.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Estimates multiply-adds within the budget, for the given sizes of dimensions and values of inputs. Nodes beyond the
/// budget are listed as unknown.
CostEstimate estimate_cost(const schema::ModelProto& model, Budget& budget, const Bindings& bindings = {});

}  // namespace onnxar
