// What every function of the C interface does: prove arguments, let no exception out, tell what went wrong.
#pragma once

#include <exception>
#include <string_view>

#include "onnxar/onnxar_c.h"

namespace onnxar::c {

/// Errors: usage.argument, naming the argument, unless it is given.
void check_argument(bool given, std::string_view name);

/// The status for what is being thrown; its account goes to `error`, where that is no null pointer. Call it in a
/// handler. Never throws: where memory is short for the account, the account says just that.
onnxar_status status_of_current_exception(onnxar_error** error) noexcept;

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
