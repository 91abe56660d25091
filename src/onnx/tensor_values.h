// Checks the data of a tensor: its field, and its amount against type and dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "onnx/tensor_view.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/tensor.h"

namespace onnxar::onnx {

/// Returns `type FLOAT and the dimensions call for 12`. `amount` is a number of bytes or values; the rest of the
/// caller's sentence names the unit.
std::string required_amount(DataType type, std::uint64_t amount);
std::string required_amount(DataType type, std::string_view amount);

/// Returns the error onnx.tensor.length (M18): `raw_data holds 8 bytes, but type FLOAT and the dimensions call for 12`.
/// `held` is the first half of the sentence.
Error length_fault(std::string_view held, DataType type, std::uint64_t required, Place place = {});

/// Proves that the tensor has a type. Throws, at the tensor's offset, onnx.tensor.no_type (M19).
void prove_type(const TensorView& tensor);

/// Makes all checks of a tensor with inline data that need not read values: they are in one field, which is the field
/// of their type; raw data is long enough; a tensor without elements has no values. Throws, at the tensor's offset,
/// onnx.tensor.data_beside (M20), .wrong_field (M21) or .length (M18). Cost: O(1).
void prove_value_fields(const TensorView& tensor);

/// Calls `prove_value_fields`, and proves that typed data has at least as many values as type and dimensions call for.
/// Throws what `prove_value_fields` throws. Cost: O(bytes of the typed data) if it consists of varints.
void prove_values(Bytes model, const TensorView& tensor);

/// Returns the sentence about raw_data with fewer bytes than `required` (M18), or more (R8). REQUIRES: tensor.raw_data
/// has a value.
std::string raw_size_text(const TensorView& tensor, std::uint64_t required);

/// The number of values that typed data holds, and the number that type and dimensions call for.
struct Surplus {
  std::uint64_t held, wanted;
};
/// Returns the numbers, if typed data holds more values than type and dimensions call for. REQUIRES: `prove_values`
/// passed.
std::optional<Surplus> surplus_values(Bytes model, const TensorView& tensor);

}  // namespace onnxar::onnx
