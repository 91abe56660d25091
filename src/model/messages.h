// Protobuf messages: conversion to and from bytes, and functions for messages of any type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/tensor_text.h"
#include "onnxar/bytes.h"
#include "onnxar/model/model.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Parses a skeleton. Throws onnx.model.too_large or onnx.model.invalid.
void parse(schema::ModelProto& proto, Bytes skeleton);

/// Serialises a message, which may lack required fields. Throws onnx.model.too_large.
std::vector<std::byte> serialised(const google::protobuf::MessageLite& message);

/// True if the tensor's data is outside the message.
inline bool is_linked(const schema::TensorProto& tensor) {
  return tensor.data_location() == schema::TensorProto::EXTERNAL;
}

inline DataType type_of(const schema::TensorProto& tensor) { return static_cast<DataType>(tensor.data_type()); }

/// Returns a view of the message, valid until its dimensions change.
inline std::span<const std::int64_t> dims_of(const schema::TensorProto& tensor) {
  return {tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size())};
}

TensorInfo info_of(const schema::TensorProto& tensor, std::string site);

/// Returns the location of a linked tensor's data; empty if the link has none.
std::string_view location_of(const schema::TensorProto& tensor);

/// Removes the elements for which `keep` is false, and returns their number. Calls `keep` once for each element, in
/// order.
template <typename T, typename Keep>
std::uint64_t keep_only(google::protobuf::RepeatedPtrField<T>& list, const Keep& keep) {
  int kept = 0;
  for (int i = 0; i < list.size(); ++i) {
    if (!keep(list[i])) continue;
    if (i != kept) list.SwapElements(i, kept);
    ++kept;
  }
  const int gone = list.size() - kept;
  list.DeleteSubrange(kept, gone);
  return static_cast<std::uint64_t>(gone);
}

/// Returns the message as a `T`; null if it has another type.
template <typename T>
const T* as(const google::protobuf::Message& message) {
  return message.GetDescriptor() == T::descriptor() ? static_cast<const T*>(&message) : nullptr;
}

/// Visits a message of any type, and then the messages in it. Fields that `visit` clears are not entered. Protobuf's
/// parser bounds the depth of recursion.
void for_each_message(const google::protobuf::Message& message,
                      const std::function<void(const google::protobuf::Message&)>& visit);

}  // namespace onnxar
