// Compares the data of two tensors, element by element.
#pragma once

#include <optional>

#include "onnxar/bytes.h"
#include "onnxar/model/diff.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Compares the raw bytes of `elements` elements of a type. For an unknown type, each byte is an element. Padding bits
/// of the last byte are ignored. Returns an empty optional if the data is equal. REQUIRES: both have the same,
/// sufficient number of bytes.
std::optional<DataDifference> compare_data(Bytes before, Bytes after, DataType type, std::uint64_t elements);

}  // namespace onnxar
