// Giving data to the tensors of a model that have none.
#pragma once

#include "freeze/weights.h"
#include "onnxar/model/freeze.h"
#include "onnxar/model/model.h"

namespace onnxar {

/// Fills initializers without data, and inputs without an initializer, from `weights`, and counts them in `report`.
/// Errors: those of `freeze` about weights; the model is then changed in part.
void fill(Model& model, Weights& weights, FreezeReport& report);

}  // namespace onnxar
