// Fills tensors without data from another file.
#pragma once

#include "freeze/weights.h"
#include "onnxar/model/freeze.h"
#include "onnxar/model/model.h"

namespace onnxar {

/// Fills initializers without data, and inputs without an initializer, from `weights`, and counts them in `report`.
/// Errors: as `freeze`; the model may then be partly changed.
void fill(Model& model, Weights& weights, FreezeReport& report);

}  // namespace onnxar
