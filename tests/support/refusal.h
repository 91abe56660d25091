// The error that an action throws, so that a test compares code and place in one line.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "onnxar/error.h"

namespace onnxar {

// GoogleTest finds it by the argument's namespace and its name.
inline void PrintTo(Code code, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << id(code);
}

namespace testing {

struct ErrorContext {
  Code code;
  std::string entry = {};
  std::optional<std::uint64_t> offset = {};

  friend bool operator==(const ErrorContext&, const ErrorContext&) = default;
  friend void PrintTo(const ErrorContext& refusal, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << id(refusal.code) << " entry \"" << escaped(refusal.entry) << '"';
    if (refusal.offset) *out << " at " << *refusal.offset;
  }
};

/// Returns the error that `action` throws, or nothing. Other exceptions pass through.
template <typename Action>
std::optional<Error> error_if_any(const Action& action) {
  try {
    static_cast<void>(action());
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// Code and place of that error.
template <typename Action>
std::optional<ErrorContext> refusal_of(const Action& action) {
  const std::optional<Error> error = error_if_any(action);
  if (!error) return std::nullopt;
  return ErrorContext{error->code(), error->entry(), error->offset()};
}

/// The code of that error, for tests that do not check the place.
template <typename Action>
std::optional<Code> code_of(const Action& action) {
  const std::optional<Error> error = error_if_any(action);
  if (!error) return std::nullopt;
  return error->code();
}

}  // namespace testing
}  // namespace onnxar
