#include <exception>
#include <string>

#include "binding.h"

namespace onnxar::python {
namespace {

/// Raises the library's error as the class that onnxar/_errors.py defines for its code.
void translate(const std::exception_ptr& thrown, void* raise_class) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object make = nb::borrow(static_cast<PyObject*>(raise_class));
    const nb::object offset = error.offset() ? nb::object(nb::int_(*error.offset())) : nb::none();
    const std::u8string path = error.path().u8string();  // on POSIX systems its bytes as they are
    const nb::object instance = make(text(id(error.code())), text(error.message()), text(error.entry()), offset,
                                     text({reinterpret_cast<const char*>(path.data()), path.size()}),
                                     text(id(error.advice().hint)), text(error.advice().value));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.ptr())), instance.ptr());
  }
}

}  // namespace

nb::object text(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

nb::list findings(const std::vector<Finding>& findings) {
  const nb::object in_words = nb::module_::import_("onnxar._errors").attr("in_words");
  nb::list rows;
  for (const Finding& finding : findings) {
    const Advice& advice = finding.advice;
    const nb::object message = in_words(text(finding.message), text(id(advice.hint)), text(advice.value));
    const nb::object offset = finding.place.offset ? nb::object(nb::int_(*finding.place.offset)) : nb::none();
    rows.append(nb::make_tuple(text(to_string(finding.severity)), text(id(finding.code)), text(finding.place.entry),
                               offset, message));
  }
  return rows;
}

void bind_errors(nb::module_& /*module*/) {
  nb::object make = nb::module_::import_("onnxar._errors").attr("make_error");
  nb::register_exception_translator(translate, make.release().ptr());  // kept as long as the process
}

}  // namespace onnxar::python
