// Holds the memory of objects of Python while the library reads it.
#include "buffers.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace onnxar::python {
namespace {

class HeldSource final : public ByteSource {
 public:
  explicit HeldSource(HeldBuffer held) : held_(std::move(held)) {}
  [[nodiscard]] std::uint64_t size() const override { return held_.bytes.size(); }
  void read(const ByteSink& sink) const override { sink(held_.bytes); }
  void locate(const std::function<void(const Location&)>& visit) const override { visit({held_.bytes}); }

 private:
  HeldBuffer held_;
};

}  // namespace

HeldBuffer hold_buffer(const nb::handle& object) {
  const auto release = [](Py_buffer* view) {
    const nb::gil_scoped_acquire gil;
    if (gil.is_valid()) PyBuffer_Release(view);
    delete view;
  };
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_SIMPLE) != 0) {
    if (PyErr_ExceptionMatches(PyExc_BufferError) == 0) throw nb::python_error();
    // A view with strides, such as `memoryview(data)[::2]`: its bytes in row-major order are copied.
    PyErr_Clear();
    const nb::object copy = nb::steal(PyBytes_FromObject(object.ptr()));
    if (!copy || PyObject_GetBuffer(copy.ptr(), view.get(), PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  const std::shared_ptr<Py_buffer> owner(view.release(), release);
  return {{static_cast<const std::byte*>(owner->buf), static_cast<std::size_t>(owner->len)}, owner};
}

std::shared_ptr<const ByteSource> held_source(const nb::handle& object) {
  return std::make_shared<HeldSource>(hold_buffer(object));
}

}  // namespace onnxar::python
