// Calls for callers without exceptions.
#pragma once

#include "onnxar/error.h"

namespace onnxar::base {

/// Returns the result of `call`. If it throws, sets `failure` to the exception and returns an empty `Result`, which is
/// a std::optional, or a bool that `call` makes true.
template <typename Result, typename Call>
Result attempt(Failure& failure, const Call& call) noexcept {
  failure = Failure();
  try {
    return Result(call());
  } catch (...) {
    failure = Failure::of_current_exception();
    return Result();
  }
}

}  // namespace onnxar::base
