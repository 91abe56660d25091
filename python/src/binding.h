// What the parts of the extension module share. The module is thin: it hands over bytes and plain values; arrays, names
// and messages of protobuf are Python's (python/onnxar/).
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

/// Does long work without the interpreter's lock; nothing of Python may be touched in it.
template <typename Action>
auto without_gil(const Action& action) {
  const nb::gil_scoped_release released;
  return action();
}

/// Names in a model need not be UTF-8: what is not comes as lone surrogates, as Python has it for file names.
nb::object text(std::string_view text);

nb::tuple shape_of(const std::vector<std::int64_t>& dims);

/// Tuples (severity, code, entry, offset, message).
nb::list findings(const std::vector<Finding>& findings);

/// Memory of a Python object that has a buffer, and what keeps it alive.
struct HeldBuffer {
  Bytes bytes;
  std::shared_ptr<const void> owner;
};
HeldBuffer hold_buffer(const nb::handle& object);

}  // namespace onnxar::python
