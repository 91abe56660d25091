// Losses of protobuf's text format.
#pragma once

#include <vector>

#include "onnxar/error.h"
#include "onnxar/onnx.pb.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// Reports what a model loses when it is printed as text and parsed again. `proto` is the parsed skeleton of `model`.
std::vector<Finding> text_losses(const LoadedModel& model, const schema::ModelProto& proto);

}  // namespace onnxar
