// Converts values of the library to objects of Python.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "binding.h"

namespace onnxar::python {

/// Converts text to a str. Names in a model need not be UTF-8: other bytes become lone surrogates, as in Python's file
/// names.
nb::object text(std::string_view text);

nb::tuple shape_of(const std::vector<std::int64_t>& dims);

}  // namespace onnxar::python
