// Matching the elements of two repeated fields.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "onnxar/onnx.pb.h"

namespace onnxar {

struct Matching {
  std::vector<std::pair<int, int>> both;  ///< in the first one's order
  std::vector<int> removed, added;
};

/// Matches the elements of `field`, which are messages, in two messages of one type: by unique names, then (nodes) by
/// unique outputs, and the rest in their order.
Matching match(const google::protobuf::Message& before, const google::protobuf::Message& after,
               const google::protobuf::FieldDescriptor& field);

/// What identifies an element: a node's name, a property's key, an opset's domain. Empty if it has none.
std::string name_in(const google::protobuf::Message& element);

}  // namespace onnxar
