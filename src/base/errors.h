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

// Checks functions that callers pass in.

/// Refuses an empty function at once; to call it later would throw std::bad_function_call in the middle of the work.
/// `what` names it in the message: "the function that takes the bytes". Errors: usage.argument.
template <typename Signature>
void check_callable(const std::function<Signature>& function, std::string_view what) {
  if (!function) throw Error(Code::usage_argument, concat(what, " is empty; give a function that can be called"));
}

/// The context that is added. Empty parts add nothing.
struct Annotation {
  std::string prefix = {};          ///< goes before the message, such as `tensor "w" (graph.initializer[3])`
  std::optional<Place> place = {};  ///< replaces a relative offset
  std::string entry = {};           ///< the entry that the bytes belong to
  std::uint64_t base = 0;           ///< the position that a relative offset counts from
  std::filesystem::path path = {};  ///< the file
  Advice advice = {};               ///< the remedy
};

/// Returns a copy of `error` with the context `added`. The inner layer has precedence: a path and advice are added only
/// if the error has none, or only the advice on damaged messages (Hint::get_model_again). While the error has neither
/// an entry nor a path, its offset is relative to the bytes that the inner layer was given: then `entry` and `base` are
/// added to it, or `place` replaces it.
[[nodiscard]] Error annotate(const Error& error, Annotation added);

/// Returns the result of `action` and annotates its errors with `added()`. Only a failure calls `added`, so that paths
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
