// Converts typed fields of a TensorProto (float_data, int32_data, ...) to raw bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/kept.h"
#include "onnx/tensor_view.h"
#include "onnxar/bytes.h"
#include "onnxar/tensor.h"

namespace onnxar::onnx {

/// Returns the raw bytes of a tensor with typed data, if it converts exactly: all values are in the field of the data
/// type, their number is the one that the dimensions call for, and each is in the range of the type (W9). Null
/// otherwise. REQUIRES: `tensor` was read from `model` (`read_tensor`), here and below.
///
/// The source is a view of `model` if the wire already holds raw bytes (one run of fixed-width values).
/// Otherwise it decodes piece by piece while it is read. Cost: O(values) for this check, and again for each read.
std::shared_ptr<const ByteSource> typed_data_source(base::Kept<Bytes> model, const TensorView& tensor);

/// Returns the raw bytes as a view of `model`, if they are one run of fixed-width values; empty otherwise.
std::optional<Bytes> raw_run_of(Bytes model, const TensorView& tensor);

/// The typed field of a data type, and the number of raw bytes of one value: 0 where each value is an element whose raw
/// bytes are not whole (types of 6 bits), or that has none (strings).
struct TypedField {
  std::uint32_t number;
  std::size_t width;
};
/// Returns the typed field of `type`; empty for an unknown type.
std::optional<TypedField> typed_field_of(DataType type);

/// Throws the reason why `typed_data_source` is null: onnx.tensor.strings or onnx.tensor.not_converted, at the tensor's
/// offset.
[[noreturn]] void refuse_conversion(const TensorView& tensor);

/// Proves every value of packed runs, as protobuf's parsers do. Throws wire.truncated (a run ends in the middle of a
/// value) or wire.varint. Cost: O(values).
void prove_typed_data(Bytes model, const TensorView& tensor);

}  // namespace onnxar::onnx
