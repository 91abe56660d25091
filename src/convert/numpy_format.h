// Writes NumPy's file format, `.npy`, version 1.0 (numpy/lib/format.py describes it).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "onnxar/bytes.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// The file name extension of this format.
inline constexpr std::string_view npy_suffix = ".npy";

/// Describes how a `.npy` represents a data type.
struct NumpyType {
  std::string descr;         ///< `<f4`; empty if the elements have no known size
  bool as_integers = false;  ///< NumPy lacks the type, so integers hold the bits
};
/// Returns the NumPy type for tensors of `type`.
NumpyType numpy_type(DataType type);

/// Returns the header of a `.npy`: magic, version and a description, padded to a multiple of 64 bytes. REQUIRES: at
/// most 1024 dimensions.
std::string numpy_header(const std::string& descr, const std::vector<std::int64_t>& dims);

/// Converts `payload`, raw data of this type, to the form of a `.npy`. Elements of less than 8 bits, `count` of them,
/// become one byte each, sign-extended for signed types. Other elements are unchanged.
std::shared_ptr<const ByteSource> numpy_elements(std::shared_ptr<const ByteSource> payload, DataType type,
                                                 std::uint64_t count);

}  // namespace onnxar
