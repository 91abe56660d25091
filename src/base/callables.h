// Checks functions that callers pass in.
#pragma once

#include <functional>
#include <string_view>

#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar::base {

/// Refuses an empty function at once; to call it later would throw std::bad_function_call in the middle of the work.
/// `what` names it in the message: "the ByteSink". Errors: usage.argument.
template <typename Signature>
void check_callable(const std::function<Signature>& function, std::string_view what) {
  if (!function) throw Error(Code::usage_argument, concat(what, " is empty; give a function that can be called"));
}

}  // namespace onnxar::base
