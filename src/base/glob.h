// Matches names against patterns with the wildcards of shells.
#pragma once

#include <bitset>
#include <string_view>
#include <vector>

namespace onnxar::base {

/// True if `text` contains a wildcard.
bool is_pattern(std::string_view text) noexcept;

/// Matches a pattern: `*` matches any bytes, `?` one byte, `[a-c]` and `[!a-c]` one byte in or outside a set, so `[*]`
/// matches a star. A bracket that is never closed is a plain character. Slashes, dots and backslashes have no special
/// meaning. Immutable. Threads: any.
class Glob {
 public:
  explicit Glob(std::string_view pattern);

  /// True if all of `text` matches. Cost: at most O(text * pattern) for any input; fnmatch of the C library takes
  /// O(text ^ stars).
  [[nodiscard]] bool matches(std::string_view text) const noexcept;

 private:
  /// Matches one byte of the text, or any number of bytes if `is_star` is set.
  struct Item {
    bool is_star = false;
    std::bitset<256> bytes = {};
  };

  std::vector<Item> items_;
};

}  // namespace onnxar::base
