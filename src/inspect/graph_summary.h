// Summarises the main graph: interface, operators, depth, faults.
#pragma once

#include "graph/walk.h"
#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

// Summarises a node in one line: operator, names, attributes, site.

NodeSummary summary_of(const schema::NodeProto& node, const Site& site);

/// `model` is a parsed skeleton: payloads are not needed. Cost: linear in the size of the message.
GraphSummary summary_of_graph(const schema::ModelProto& model);

}  // namespace onnxar
