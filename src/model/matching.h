// Matches the elements of repeated fields in two messages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Pairs of indices, and indices of elements that only one side has.
struct Matching {
  std::vector<std::pair<int, int>> both;  ///< sorted by the first index
  std::vector<int> removed, added;
};

/// Matches the elements of `field`, which are messages, in two messages of the same type: by unique names, then nodes
/// by unique outputs, then the rest in order. Cost: linear in the number of elements.
Matching match(const google::protobuf::Message& before, const google::protobuf::Message& after,
               const google::protobuf::FieldDescriptor& field);

/// Returns the name that identifies an element: a node's name, a property's key, an opset's domain. Empty if it has
/// none.
std::string name_in(const google::protobuf::Message& element);

}  // namespace onnxar
