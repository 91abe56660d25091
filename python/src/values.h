// Converts values of the library to objects of Python.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "binding.h"
#include "onnxar/bytes.h"

namespace onnxar::python {

/// Converts text to a str. Names in a model need not be UTF-8: other bytes become lone surrogates, as in Python's file
/// names.
nb::object text(std::string_view text);

nb::tuple shape_of(const std::vector<std::int64_t>& dims);

/// Returns bytes of this size, into which `fill`, without the interpreter's lock, copies the pieces that its sink gets.
nb::object copied_bytes(std::uint64_t size, const std::function<void(const ByteSink&)>& fill);

}  // namespace onnxar::python
