// The data of two tensors, element by element.
#pragma once

#include <optional>

#include "onnxar/bytes.h"
#include "onnxar/model/diff.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Compares raw bytes of `elements` elements of a type; of a type that is not known, bytes. Bits that pad the last byte
/// make no difference. Nothing where they are the same. REQUIRES: both hold as many bytes as that takes.
std::optional<DataDifference> compare_data(Bytes before, Bytes after, DataType type, std::uint64_t elements);

}  // namespace onnxar
