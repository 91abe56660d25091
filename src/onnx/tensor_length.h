// Sentences about the amount of data of a tensor, for the error onnx.tensor.length and for remarks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onnxar/error.h"
#include "onnxar/tensor.h"

namespace onnxar::onnx {

/// `type FLOAT and the dimensions call for 12`. `amount` is a number of bytes or values; the rest of the caller's
/// sentence names the unit.
std::string required_amount(DataType type, std::uint64_t amount);
std::string required_amount(DataType type, std::string_view amount);

/// Makes the error onnx.tensor.length (M18): `raw_data holds 8 bytes, but type FLOAT and the dimensions call for 12`.
/// `held` is the first half of the sentence.
Error length_fault(std::string_view held, DataType type, std::uint64_t required, Place place = {});

}  // namespace onnxar::onnx
