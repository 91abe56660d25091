// Functions that the parts of the extension module share. The module is thin: it passes bytes and plain values. The
// Python code in python/onnxar/ handles arrays, names and messages of protobuf.
#pragma once

#include <nanobind/nanobind.h>

namespace onnxar::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_archive(nb::module_& module);
void bind_tensors(nb::module_& module);
void bind_model_stream(nb::module_& module);
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

}  // namespace onnxar::python
