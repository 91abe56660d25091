// Matches names against patterns with the wildcards of shells.
#pragma once

#include <string_view>

namespace onnxar::base {

/// Whether `text` contains a wildcard.
bool is_pattern(std::string_view text) noexcept;

/// Whether all of `text` matches `pattern`: `*` stands for any bytes, `?` for one byte, `[a-c]`, `[!a-c]` and
/// `[[:digit:]]` for one byte of a set or outside it; a character after `\` stands for itself. Slashes and dots have no
/// special meaning. Cost: at most O(text * pattern) for any input; fnmatch of the C library takes O(text ^ stars).
bool matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace onnxar::base
