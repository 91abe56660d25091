// What protobuf's text format cannot carry.
#pragma once

#include <vector>

#include "onnxar/error.h"
#include "onnxar/onnx.pb.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// What a model that is made of the text of `proto` lacks. `proto` was parsed from the skeleton of `model`.
std::vector<Finding> text_losses(const LoadedModel& model, const schema::ModelProto& proto);

}  // namespace onnxar
