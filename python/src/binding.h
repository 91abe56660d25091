// Functions that the parts of the extension module share. The module is thin: it passes bytes and plain values. The
// Python code in python/onnxar/ handles arrays, names and messages of protobuf.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_archive(nb::module_& module);
void bind_options(nb::module_& module);
void bind_conversions(nb::module_& module);
void bind_writers(nb::module_& module);
void bind_links(nb::module_& module);
void bind_remote(nb::module_& module);
void bind_stored(nb::module_& module);

/// Runs long work without the interpreter's lock. The work must not use Python objects.
template <typename Action>
auto without_gil(const Action& action) {
  const nb::gil_scoped_release released;
  return action();
}

/// Converts text to a str. Names in a model need not be UTF-8: other bytes become lone surrogates, as in Python's file
/// names.
nb::object text(std::string_view text);

nb::tuple shape_of(const std::vector<std::int64_t>& dims);

/// Returns tuples (severity, code, entry, offset, message).
nb::list findings(const std::vector<Finding>& findings);

/// The memory of a Python object with a buffer, and the owner that keeps it alive.
struct HeldBuffer {
  Bytes bytes;
  std::shared_ptr<const void> owner;
};
HeldBuffer hold_buffer(const nb::handle& object);
std::shared_ptr<const ByteSource> held_source(const nb::handle& object);

}  // namespace onnxar::python
