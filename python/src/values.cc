// Converts values of the library to objects of Python.
#include "values.h"

namespace onnxar::python {

nb::object text(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

nb::tuple shape_of(const std::vector<std::int64_t>& dims) {
  nb::list shape;
  for (const std::int64_t dim : dims) shape.append(dim);
  return nb::tuple(shape);
}

}  // namespace onnxar::python
