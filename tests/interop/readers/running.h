// Runs sessions of ONNX Runtime in tests.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "onnxar/bytes.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {

inline Ort::Env& env() {
  static Ort::Env env(ORT_LOGGING_LEVEL_FATAL, "onnxar");
  return env;
}

/// One thread, so that sums are made in one order.
inline Ort::SessionOptions plain_options() {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);
  options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_FATAL);
  return options;
}

/// A tensor that goes in or comes out.
struct Tensor {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::vector<std::int64_t> shape;
  Blob bytes;
  bool operator==(const Tensor&) const = default;
};

using Tensors = std::map<std::string, Tensor>;

/// Name, type and shape of each input and output.
inline std::vector<std::string> ends_of(const Ort::Session& session) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& name, const Ort::TypeInfo& type) {
    std::string text = name + " " + std::to_string(type.GetONNXType());
    if (type.GetONNXType() == ONNX_TYPE_TENSOR) {
      const auto info = type.GetTensorTypeAndShapeInfo();
      text += " " + std::to_string(info.GetElementType());
      for (const std::int64_t dim : info.GetShape()) text += " " + std::to_string(dim);
      for (const char* const dim : info.GetSymbolicDimensions()) text += std::string(" ") + dim;
    }
    found.push_back(text);
  };
  const std::vector<std::string> inputs = session.GetInputNames(), outputs = session.GetOutputNames();
  for (std::size_t i = 0; i < inputs.size(); ++i) add(inputs[i], session.GetInputTypeInfo(i));
  found.emplace_back("to");
  for (std::size_t i = 0; i < outputs.size(); ++i) add(outputs[i], session.GetOutputTypeInfo(i));
  return found;
}

inline Tensor tensor_of(const Ort::Value& value) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  const auto* data = static_cast<const std::byte*>(value.GetTensorRawData());
  return {info.GetElementType(), info.GetShape(), Blob(data, data + value.GetTensorSizeInBytes())};
}

inline Tensors run(Ort::Session& session, const Tensors& inputs,
                   const Ort::RunOptions& options = Ort::RunOptions(nullptr)) {
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  const std::vector<std::string> input_names = session.GetInputNames(), output_names = session.GetOutputNames();
  std::vector<const char*> in, out;
  std::vector<Ort::Value> values;
  for (const std::string& name : input_names) {
    const Tensor& tensor = inputs.at(name);
    in.push_back(name.c_str());
    values.push_back(Ort::Value::CreateTensor(memory, const_cast<std::byte*>(tensor.bytes.data()), tensor.bytes.size(),
                                              tensor.shape.data(), tensor.shape.size(), tensor.type));
  }
  for (const std::string& name : output_names) out.push_back(name.c_str());
  const auto results = session.Run(options, in.data(), values.data(), in.size(), out.data(), out.size());
  Tensors tensors;
  for (std::size_t i = 0; i < results.size(); ++i) tensors[output_names[i]] = tensor_of(results[i]);
  return tensors;
}

inline Tensor floats_of(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  const Bytes bytes = std::as_bytes(std::span(values));
  return {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, std::move(shape), Blob(bytes.begin(), bytes.end())};
}

inline Tensor numbers(std::vector<std::int64_t> shape, std::uint32_t seed) {
  std::size_t count = 1;
  for (const std::int64_t dim : shape) count *= static_cast<std::size_t>(dim);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>((i * 37 + seed) % 101) / 50 - 1;
  return floats_of(std::move(shape), values);
}

}  // namespace onnxar::testing
