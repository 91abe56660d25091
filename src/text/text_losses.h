// What protobuf's text format cannot carry.
#pragma once

#include <vector>

#include "onnxar/error.h"
#include "onnxar/onnx.pb.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// What a model lacks that is parsed from the text of `proto`. `proto` is the parsed skeleton of `model`.
std::vector<Finding> text_losses(const LoadedModel& model, const schema::ModelProto& proto);

}  // namespace onnxar
