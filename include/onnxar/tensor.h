// Tensors as ONNX describes them (onnx.proto, TensorProto). Threads: all functions may be called concurrently.
//
//   const std::int64_t dims[] = {64, 3, 7, 7};
//   const auto bytes = onnxar::payload_size(onnxar::DataType::float16, dims);  // 18816
#pragma once

#include "onnxar/bytes.h"

namespace ONNXAR_API onnxar {

/// ONNX's element types. Tensors of other types are kept; their size is their length in bytes.
enum class DataType : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
  float6e2m3 = 27,
  float6e3m2 = 28,
};

/// Returns the name in onnx.proto, such as "FLOAT"; the number for an unknown type.
[[nodiscard]] std::string to_string(DataType type);

/// Returns the bits of an element in raw data; 0 for strings and unknown types.
[[nodiscard]] unsigned bits_per_element(DataType type) noexcept;

/// Returns the size of raw data in bytes. Elements below 8 bits are packed, beginning with the lowest bits, and the
/// last byte is padded; complex numbers have the real part first. A tensor without dimensions has one element. Absent
/// for strings, unknown types, negative dimensions, and products beyond 64 bits.
[[nodiscard]] std::optional<std::uint64_t> payload_size(DataType type, std::span<const std::int64_t> dims) noexcept;

/// Returns `[64,3,7,7]`; `[]` without dimensions.
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> dims);

struct TensorInfo {
  std::string name;  ///< TensorProto.name, unchanged
  DataType type = DataType::undefined;
  std::vector<std::int64_t> dims;
  std::string site;         ///< where in the model: `graph.initializer[3]`, `graph.node[7].attr.value`
  std::string output = {};  ///< of the Constant node whose `value` it is; empty: there is no such node

  /// Returns the name to show to users: its name, else its output, else its site.
  [[nodiscard]] const std::string& label() const noexcept {
    return !name.empty() ? name : !output.empty() ? output : site;
  }
};

}  // namespace ONNXAR_API onnxar
