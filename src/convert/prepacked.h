// Prepacked weights: copies of a weight in the layout of a kernel, which ONNX Runtime stores in the data file of the
// weight.
#pragma once

#include <cstdint>
#include <string>

#include "onnx/tensor_view.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// The pairs `prepacked_N` of a linked tensor of `model`, as fields of a TensorProto. Their ranges, which count from
/// the data of the tensor's entry, count in the archive's file afterwards, in which the archive begins at `begin`.
/// Errors: onnx.external_data.out_of_range (a range is not in the entry), without a place; as Archive::bytes.
std::string prepacked_fields(Bytes model, const onnx::TensorView& tensor, const Archive& archive, std::uint64_t begin);

}  // namespace onnxar
