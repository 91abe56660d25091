// Protobuf messages from and to bytes, and the links in them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Errors: onnx.model.too_large, onnx.model.invalid.
void parse(schema::ModelProto& proto, Bytes skeleton, std::size_t max_depth);

/// Errors: onnx.model.too_large.
std::vector<std::byte> serialised(const google::protobuf::MessageLite& message);

inline bool is_linked(const schema::TensorProto& tensor) {
  return tensor.data_location() == schema::TensorProto::EXTERNAL;
}

/// Where a linked tensor's data is; empty where it does not say.
std::string_view location_of(const schema::TensorProto& tensor);

}  // namespace onnxar
