// Parses `.npy` files of NumPy (numpy/lib/format.py describes the format).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// A parsed `.npy` file.
struct NpyArray {
  std::string descr;  ///< `<f4`
  std::vector<std::int64_t> dims;
  Bytes data;  ///< a view into the file
};

/// Parses a `.npy` file. Throws numpy.array.malformed (it is not a `.npy`, the header does not have NumPy's form, or
/// the data has another length) or numpy.array.unsupported (a version above 3, Fortran order, big-endian numbers,
/// Python objects or records).
NpyArray parse_npy(Bytes file);

/// True if elements of NumPy's type `descr` have the bits of elements of `type`. For types that NumPy lacks, unsigned
/// integers and plain bytes (`|V2`) are accepted.
bool is_numpy_form(DataType type, std::string_view descr);

}  // namespace onnxar
