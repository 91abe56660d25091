// Adds the context of an outer layer to an error of an inner one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar::base {

// Checks the functions that callers pass.

/// Throws usage.argument if the function is empty; calling it later would throw std::bad_function_call in the middle of
/// the work. `what` names it in the message: "the function that takes the bytes".
template <typename Signature>
void check_callable(const std::function<Signature>& function, std::string_view what) {
  if (!function) throw Error(Code::usage_argument, concat(what, " is empty; give a function that can be called"));
}

/// Holds the context that is added. Empty parts add nothing.
struct Annotation {
  std::string prefix = {};          ///< goes before the message, such as `tensor "w" (graph.initializer[3])`
  std::optional<Place> place = {};  ///< replaces a relative offset
  std::string entry = {};           ///< the entry that the bytes belong to
  std::uint64_t base = 0;           ///< the position that a relative offset counts from
  std::filesystem::path path = {};  ///< the file
  Advice advice = {};               ///< the remedy
};

/// Returns a copy of `error` with the context `added`. The inner layer has precedence: a path is added only if the
/// error has no path, and advice only if it has no advice or the one for damaged messages (Hint::get_model_again). If
/// the error has neither an entry nor a path, its offset is relative to the bytes that the inner layer received: then
/// `entry` and `base` are added to it, or `place` replaces it.
[[nodiscard]] Error annotate(const Error& error, Annotation added);

/// Returns the result of `action` and annotates its errors with `added()`. Calls `added` only on failure, so that paths
/// and prefixes are not built for calls that succeed.
template <typename Action, typename Added>
auto annotated(const Added& added, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw annotate(error, added());
  }
}

}  // namespace onnxar::base
