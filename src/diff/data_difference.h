// The data of two tensors, element by element.
#pragma once

#include <optional>

#include "onnxar/bytes.h"
#include "onnxar/model/diff.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Compares the raw bytes of `elements` elements of a type; for an unknown type, an element is a byte. Padding bits of
/// the last byte do not count. Empty if there is no difference. REQUIRES: both have the same, sufficient number of
/// bytes.
std::optional<DataDifference> compare_data(Bytes before, Bytes after, DataType type, std::uint64_t elements);

}  // namespace onnxar
