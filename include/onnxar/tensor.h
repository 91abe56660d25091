// Tensors as ONNX describes them: data types, shapes, sizes (onnx.proto, TensorProto).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// TensorProto.DataType. Values that this list does not have yet are carried along by their byte length.
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
};

/// The name in TensorProto.DataType, such as "FLOAT"; the number for a type that is not known.
[[nodiscard]] std::string to_string(DataType type);

/// Bits an element takes in raw bytes; 0 for strings and for types that are not known.
[[nodiscard]] unsigned bits_per_element(DataType type) noexcept;

/// The bytes that raw data of this type and shape has: elements below 8 bits are packed, the last byte padded. No
/// dimensions mean one element. Nothing for strings, unknown types, negative dimensions or a product beyond 64 bits.
[[nodiscard]] std::optional<std::uint64_t> payload_size(DataType type, std::span<const std::int64_t> dims) noexcept;

/// `[64,3,7,7]`; `[]` where there are no dimensions.
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> dims);

/// What one tensor of a model is, apart from its bytes.
struct TensorInfo {
  std::string name;  ///< TensorProto.name, as it stands in the model
  DataType type = DataType::undefined;
  std::vector<std::int64_t> dims;
  std::string site;  ///< where in the model: `graph.initializer[3]`, `graph.node[7].attr.value`
};

}  // namespace ONNXAR_API onnxar
