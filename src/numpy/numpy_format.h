// NumPy's file format, `.npy`, version 1.0 (numpy/lib/format.py describes it).
#pragma once

#include <memory>
#include <string>

#include "onnxar/bytes.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// How the elements of a type stand in a `.npy`.
struct NumpyType {
  std::string descr;         ///< `<f4`; empty where a type has no elements of a known size
  bool as_integers = false;  ///< NumPy lacks the type
};
NumpyType numpy_type(DataType type);

/// What precedes the elements: magic, version and a description, padded to a multiple of 64 bytes.
/// REQUIRES: at most 1024 dimensions.
std::string numpy_header(const std::string& descr, const std::vector<std::int64_t>& dims);

/// The elements of `payload`, raw bytes of this type, as a `.npy` has them: `count` elements below 8 bits get a byte
/// each, signed ones with their sign; others are as they are.
std::shared_ptr<const ByteSource> numpy_elements(std::shared_ptr<const ByteSource> payload, DataType type,
                                                 std::uint64_t count);

}  // namespace onnxar
