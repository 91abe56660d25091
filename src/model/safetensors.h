// Reads tensors from a safetensors file: the length of a JSON object, the object, and the data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// A tensor in the header of a safetensors file.
struct SafeTensor {
  DataType type = DataType::undefined;
  std::vector<std::int64_t> dims;
  Bytes data;  ///< a view into the file
};

/// Reads the header of a whole file. Strict: each tensor has the three members of the format, its data has the length
/// that type and dims require, and all data together covers the file after the header without holes or overlaps. Throws
/// safetensors.malformed, at the offset, or safetensors.type (a type that ONNX lacks). Cost: O(header).
std::map<std::string, SafeTensor> parse_safetensors(Bytes file);

}  // namespace onnxar
