// Translates the library's errors and findings to Python.
#include "errors.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <string_view>

#include "binding.h"
#include "values.h"

namespace onnxar::python {
namespace {

struct HintWords {
  std::string_view id;
  std::string_view words;
};

constexpr std::array words_of_hints = {
#define ONNXAR_HINT(identifier, id, cpp, c, command, python) HintWords{id, python},
#include "onnxar/error_hints.inc"
#undef ONNXAR_HINT
};

/// The advice in words of this package; empty for the id of a hint that a later version gives.
nb::object hint_words(const std::string& id, const std::string& value) {
  const auto* const row = std::ranges::find(words_of_hints, id, &HintWords::id);
  return text(row == words_of_hints.end() ? std::string() : filled(row->words, {Hint::none, value}));
}

/// Raises the library's error as the class that onnxar/_errors.py defines for its code.
void translate(const std::exception_ptr& thrown, void* make_error) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object make = nb::borrow(static_cast<PyObject*>(make_error));
    const nb::object offset = error.offset() ? nb::object(nb::int_(*error.offset())) : nb::none();
    const std::u8string path = error.path().u8string();  // on POSIX systems its bytes as they are
    const nb::object instance = make(text(id(error.code())), text(error.message()), text(error.entry()), offset,
                                     text({reinterpret_cast<const char*>(path.data()), path.size()}),
                                     text(id(error.advice().hint)), text(error.advice().value));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.ptr())), instance.ptr());
  }
}

}  // namespace

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

void bind_errors(nb::module_& module) {
  module.def("hint_words", hint_words, nb::arg("id"), nb::arg("value"));
  // Called by onnxar/_errors.py, which uses this module. The function is kept as long as the process.
  module.def(
      "raise_by",
      [](nb::object make_error) { nb::register_exception_translator(translate, make_error.release().ptr()); },
      nb::arg("make_error"));
}

}  // namespace onnxar::python
