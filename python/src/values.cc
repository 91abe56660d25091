// Converts values of the library to objects of Python.
#include "values.h"

#include <cstring>

namespace onnxar::python {

nb::object text(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

nb::tuple shape_of(const std::vector<std::int64_t>& dims) {
  nb::tuple_builder shape(dims.size());
  for (const std::int64_t dim : dims) shape.put(dim);
  return shape.commit();
}

nb::object copied_bytes(std::uint64_t size, const std::function<void(const ByteSink&)>& fill) {
  const nb::object bytes = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!bytes) throw nb::python_error();
  char* target = PyBytes_AsString(bytes.ptr());
  without_gil([&] {
    fill([&target](Bytes piece) {
      std::memcpy(target, piece.data(), piece.size());
      target += piece.size();
    });
  });
  return bytes;
}

}  // namespace onnxar::python
