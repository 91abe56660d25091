// Adds the context of an outer layer to an error of an inner one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>

#include "base/mapped_file.h"
#include "onnxar/error.h"

namespace onnxar::base {

/// Holds the context that is added. Empty parts add nothing.
struct Annotation {
  std::string prefix = {};           ///< goes before the message, such as `tensor "w" (graph.initializer[3])`
  std::optional<Place> place = {};   ///< replaces a relative offset
  std::string entry = {};            ///< the entry that the bytes belong to
  std::uint64_t base = 0;            ///< the position that a relative offset counts from
  std::filesystem::path path = {};   ///< the file
  const MappedFile* file = nullptr;  ///< its mapping: an error of the format becomes io.changed if the file was changed
  Advice advice = {};                ///< the remedy
};

/// Returns a copy of `error` with the context `added`, or io.changed. The inner layer has precedence: a path is added
/// only if the error has no path, and advice only if it has no advice or the one for damaged messages
/// (Hint::get_model_again). If the error has neither an entry nor a path, its offset is relative to the bytes that the
/// inner layer received: then `entry` and `base` are added to it, or `place` replaces it.
[[nodiscard]] Error annotate(const Error& error, Annotation added);

/// Returns the result of `action`, and adds `context` to its errors: the path of the file, or a function that is called
/// only on failure, so that prefixes are not built for calls that succeed. The function returns an Annotation; if it
/// takes the error, it returns the error to throw instead.
template <typename Context, typename Action>
auto annotated(const Context& context, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    if constexpr (std::is_invocable_v<const Context&, const Error&>) {
      throw context(error);
    } else if constexpr (std::is_invocable_v<const Context&>) {
      throw annotate(error, context());
    } else {
      throw annotate(error, {.path = context});
    }
  }
}

}  // namespace onnxar::base
