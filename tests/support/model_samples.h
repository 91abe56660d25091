// Helpers for tests of models in memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "onnxar/model/model.h"
#include "support/samples.h"

namespace onnxar::testing {

inline Blob copied(const ByteSpan& span) {
  const Bytes bytes = span.bytes();
  return {bytes.begin(), bytes.end()};
}

inline schema::TensorProto& initializer(Model& model, int index) {
  return *model.proto().mutable_graph()->mutable_initializer(index);
}

inline const schema::TensorProto& initializer(const Model& model, int index) {
  return model.proto().graph().initializer(index);
}

/// The message of this class that protobuf reads.
template <typename Proto = schema::ModelProto>
Proto parsed(const Message& message) {
  Proto proto;
  EXPECT_TRUE(proto.ParseFromArray(message.view().data(), static_cast<int>(message.size())));
  return proto;
}

/// A tensor without data.
inline schema::TensorProto& add_initializer(Model& model, const std::string& name, std::uint64_t type,
                                            const Dims& dims) {
  schema::TensorProto& added = *model.proto().mutable_graph()->add_initializer();
  added.set_name(name);
  added.set_data_type(static_cast<std::int32_t>(type));
  for (const std::int64_t dim : dims) added.add_dims(dim);
  return added;
}

inline LoadOptions with_no_copy(bool no_copy) { return {.no_copy = no_copy}; }

/// ONNX's own test models, the largest first; none where Debian's package libonnx-testdata is not installed.
inline std::vector<std::filesystem::path> onnx_test_models() {
  const std::filesystem::path folder = "/usr/share/libonnx-testdata";
  if (!std::filesystem::is_directory(folder)) return {};
  std::vector<std::pair<std::uintmax_t, std::filesystem::path>> by_size;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") by_size.emplace_back(entry.file_size(), entry.path());
  }
  std::sort(by_size.rbegin(), by_size.rend());
  std::vector<std::filesystem::path> models;
  for (const auto& [size, path] : by_size) models.push_back(path);
  return models;
}

}  // namespace onnxar::testing
