// A node of a model in a line: its operator, names, attributes and site.
#pragma once

#include "graph/walk.h"
#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

NodeSummary summary_of(const schema::NodeProto& node, const Site& site);

}  // namespace onnxar
