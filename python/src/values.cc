// Converts values of the library to objects of Python.
#include "values.h"

namespace onnxar::python {

nb::object text(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

nb::tuple shape_of(const std::vector<std::int64_t>& dims) {
  nb::tuple_builder shape(dims.size());
  for (const std::int64_t dim : dims) shape.put(dim);
  return shape.commit();
}

}  // namespace onnxar::python
