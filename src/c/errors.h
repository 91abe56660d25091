// The errors of the C interface. `guarded` is the frame of every function: it catches all exceptions, and turns them
// into a status and a description.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "onnxar/error.h"
#include "onnxar/onnxar_c.h"

namespace onnxar::c {

/// The advice in words of C; empty for Hint::none.
std::string words_of(const Advice& advice);
/// `message; words`, or `message` alone if there are no words.
std::string with_advice(const std::string& message, const std::string& words);

/// A callback of the caller asked to stop. Callers get ONNXAR_USAGE with code c.callback, which is not in the
/// catalogue: that describes files and calls of the library, and only the caller knows why its callback failed.
class CallbackFailed : public std::exception {
 public:
  /// `what` must be a literal.
  explicit CallbackFailed(const char* what) noexcept : what_(what) {}
  [[nodiscard]] const char* what() const noexcept override { return what_; }

 private:
  const char* what_;
};

/// The status for the exception that is being handled; its description goes to `error`, unless that is null. Call it in
/// a handler. Never throws: without memory for the description, `error` says only that.
onnxar_status status_of_current_exception(onnxar_error** error) noexcept;

/// Runs `action` as the body of a C function. Unwinding through frames of C is undefined, so no exception may leave:
/// noexcept ends the process if one did. `error` is cleared first, so that callers may free it after any outcome.
template <typename Action>
onnxar_status guarded(onnxar_error** error, const Action& action) noexcept {
  try {
    if (error != nullptr) *error = nullptr;
    action();
    return ONNXAR_OK;
  } catch (...) {
    return status_of_current_exception(error);
  }
}

}  // namespace onnxar::c
