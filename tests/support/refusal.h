// The error that an action throws, so that a test compares code and place in one line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

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

/// What a test expects of an error. Parts that are not set may be anything.
struct ExpectedError {
  Code code;
  std::optional<std::string_view> entry = {};
  std::optional<std::uint64_t> offset = {};
  std::optional<std::filesystem::path> path = {};
  std::optional<Hint> hint = {};
  std::vector<std::string_view> says = {};  // parts of the message
};

/// Expects that there is an error, and that it is this one.
void expect_error(const std::optional<Error>& error, const ExpectedError& expected,
                  const std::source_location& place = std::source_location::current());

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
