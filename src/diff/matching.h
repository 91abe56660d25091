// Which elements of two repeated fields are the same thing.
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

/// Matches the elements of `field`, messages, of two messages of one type: by what names them, in several ways one
/// after another (nodes by their names, then by their outputs), where that is unique; what has no name, or shares it,
/// in its order.
Matching match(const google::protobuf::Message& before, const google::protobuf::Message& after,
               const google::protobuf::FieldDescriptor& field);

/// What an element goes by: a node's name, a property's key, an opset's domain; empty where it has nothing of the kind.
std::string name_in(const google::protobuf::Message& element);

}  // namespace onnxar
