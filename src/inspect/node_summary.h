// Summarises a node in one line: operator, names, attributes, site.
#pragma once

#include "graph/walk.h"
#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

NodeSummary summary_of(const schema::NodeProto& node, const Site& site);

}  // namespace onnxar
