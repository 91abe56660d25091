// Checks the values of a tensor whose data is in the model: which field they are in, and how many they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "onnx/tensor_view.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// Errors, at the tensor's offset: onnx.tensor.no_type (M19).
void prove_type(const TensorView& tensor);

/// For a tensor that is not linked, proves what can be seen without reading values: that they are in one field, and in
/// the field of their type; that raw data is long enough; that there are none if the dimensions call for none. Errors,
/// at the tensor's offset: onnx.tensor.data_beside (M20), .wrong_field (M21), .length (M18). Cost: O(1).
void prove_value_fields(const TensorView& tensor);

/// As `prove_value_fields`; also proves that typed data has at least as many values as type and dimensions call for.
/// Cost: O(bytes of the typed data) if it consists of varints.
void prove_values(Bytes model, const TensorView& tensor);

/// The sentence about raw_data with fewer bytes than the `required` ones (M18), or more (R8). REQUIRES: there is
/// raw_data.
std::string raw_size_text(const TensorView& tensor, std::uint64_t required);

/// The numbers of values, if typed data has more of them than type and dimensions call for. REQUIRES: `prove_values`
/// passed.
struct Surplus {
  std::uint64_t held, wanted;
};
std::optional<Surplus> surplus_values(Bytes model, const TensorView& tensor);

}  // namespace onnxar::onnx
