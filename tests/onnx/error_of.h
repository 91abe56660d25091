// The error that a call throws.
#pragma once

#include <stdexcept>
#include <utility>

#include "onnxar/error.h"

namespace onnxar::testing {

/// Calls `call` and returns the Error it throws. Fails the test if the call does not throw.
template <typename Call>
Error error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("nothing was thrown");
}

}  // namespace onnxar::testing
