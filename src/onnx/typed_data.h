// Typed fields of a TensorProto (float_data, int32_data, ...) as the raw bytes that they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "onnx/tensor_view.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// The raw bytes of a tensor that holds typed data, if they convert exactly: the one typed field that the data type
/// calls for, as many values as the dimensions call for, every value in the type's range. Nothing otherwise.
///
/// The source is a view of `model` where the wire already holds raw bytes (one packed run of fixed-width values); else
/// it decodes while it is read, a piece at a time. Cost: O(values), once here to look at them and once for each read.
std::shared_ptr<const ByteSource> typed_data_source(Bytes model, const TensorView& tensor);

/// The same where the wire already holds the raw bytes, in one packed run of fixed-width values: where they lie.
std::optional<Bytes> packed_raw_bytes(Bytes model, const TensorView& tensor);

/// The typed field that the data type calls for, and the bytes that one of its values becomes: 0 for strings, which
/// have no raw bytes. Nothing for a type that is not known.
struct TypedField {
  std::uint32_t number;
  std::size_t width;
};
std::optional<TypedField> typed_field_of(DataType type);

/// Why typed data has no raw bytes. Errors: onnx.tensor.strings, onnx.tensor.not_converted, at the tensor's offset.
[[noreturn]] void refuse_conversion(const TensorView& tensor);

/// Looks at every value of packed runs, as a parser would. Errors: wire.truncated (a run ends in the middle of a
/// value), wire.varint. Cost: O(values).
void prove_typed_data(Bytes model, const TensorView& tensor);

}  // namespace onnxar::onnx
