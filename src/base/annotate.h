// What an outer layer adds to an error of an inner one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "onnxar/error.h"

namespace onnxar::base {

/// Each part is empty when there is nothing to add.
struct Annotation {
  std::string prefix = {};          ///< goes before the message, such as `tensor "w" (graph.initializer[3])`
  std::optional<Place> place = {};  ///< takes the place of a relative offset
  std::string entry = {};           ///< that the bytes belong to
  std::uint64_t base = 0;           ///< what a relative offset counts from
  std::filesystem::path path = {};  ///< of the file
  Advice advice = {};               ///< what to do
};

/// A copy of `error` with what `added` knows. What the inner layer said stays: a path and advice are added only if the
/// error has none. As long as it has neither an entry nor a path, its offset is relative to the bytes that the inner
/// layer was given: then `entry` and `base` are added to it, or `place` replaces it.
[[nodiscard]] Error annotate(const Error& error, Annotation added);

/// What `action` gives; its errors are annotated with what `added()` gives, which is asked for only then.
template <typename Action, typename Added>
auto annotated(const Added& added, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw annotate(error, added());
  }
}

}  // namespace onnxar::base
