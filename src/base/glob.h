// Patterns for names.
#pragma once

#include <string_view>

namespace onnxar::base {

/// Whether a pattern has a character in it that means others.
bool is_pattern(std::string_view text) noexcept;

/// Whether all of `text` matches `pattern`, as shells have it: `*` is any bytes, `?` one, `[a-c]`, `[!a-c]` and
/// `[[:digit:]]` one of some (or not of them), and after `\` a character is itself. Slashes and dots are bytes like
/// others. Cost: O(text * pattern) at worst, whatever they are; fnmatch of the C library takes O(text ^ stars).
bool matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace onnxar::base
