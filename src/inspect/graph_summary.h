// A summary of the main graph: its interface, operators and depth, and its faults.
#pragma once

#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

GraphSummary summary_of_graph(const schema::ModelProto& model);

}  // namespace onnxar
