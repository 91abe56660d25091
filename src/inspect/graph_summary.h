// Summarises the main graph: interface, operators, depth, faults.
#pragma once

#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// `model` is a parsed skeleton: payloads are not needed. Cost: linear in the size of the message.
GraphSummary summary_of_graph(const schema::ModelProto& model);

}  // namespace onnxar
