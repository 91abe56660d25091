// Summarises the main graph (interface, operators, depth, faults) and its nodes.
#pragma once

#include "inspect/inspection.h"
#include "model/walk.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Returns a node in one line: operator, names, attributes, site.
NodeSummary summary_of(const schema::NodeProto& node, const Site& site);

/// Summarises a model. `model` is a parsed skeleton: payloads are not needed. Cost: linear in the size of the message.
GraphSummary summary_of_graph(const schema::ModelProto& model);

}  // namespace onnxar
