// Infers the shapes of the outputs of a node.
#pragma once

#include <vector>

#include "inspect/shapes.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Returns one value for each output of a node. Empty for an unknown operator, and after the budget is spent.
[[nodiscard]] std::vector<KnownValue> infer(const schema::NodeProto& node, const Attributes& attributes,
                                            const Values& values);

}  // namespace onnxar
