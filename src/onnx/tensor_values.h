// Where the values of a tensor are that has its data in the model, and whether they are as many as they must be.
#pragma once

#include <cstdint>
#include <optional>

#include "onnx/tensor_view.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// Errors, at the tensor's offset: onnx.tensor.no_type (M19).
void prove_type(const TensorView& tensor);

/// Of a tensor that is not linked, what shows without a look at the values: that they are in one field, and in that
/// of their type; that raw data is long enough; that there are none where the dimensions call for none. Errors, at the
/// tensor's offset: onnx.tensor.data_beside (M20), .wrong_field (M21), .length (M18). Cost: O(1).
void prove_value_fields(const TensorView& tensor);

/// As `prove_value_fields`, and that typed data has as many values as type and dimensions call for, or more.
/// Cost: O(bytes of the typed data) where it consists of varints.
void prove_values(Bytes model, const TensorView& tensor);

/// How many values typed data has beyond those that type and dimensions call for; `prove_values` passed.
struct Surplus {
  std::uint64_t held, wanted;
};
std::optional<Surplus> surplus_values(Bytes model, const TensorView& tensor);

}  // namespace onnxar::onnx
