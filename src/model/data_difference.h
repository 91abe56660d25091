// Compares the data of two tensors, element by element.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/front_end.h"
#include "onnxar/bytes.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Returns the exact value of each bit pattern of a floating point type of at most 16 bits, indexed by the pattern;
/// empty for every other type.
std::vector<float> values_of_narrow_float(DataType type);

/// Compares the raw bytes of `elements` elements of a type. For an unknown type, each byte is an element. Padding bits
/// of the last byte are ignored. Returns an empty optional if the data is equal. REQUIRES: both have the same,
/// sufficient number of bytes.
std::optional<DataDifference> compare_data(Bytes before, Bytes after, DataType type, std::uint64_t elements);

}  // namespace onnxar
