// Matches names against patterns with the wildcards of shells.
#pragma once

#include <bitset>
#include <string_view>
#include <vector>

namespace onnxar::base {

/// Whether `text` contains a wildcard.
bool is_pattern(std::string_view text) noexcept;

/// A pattern: `*` stands for any bytes, `?` for one byte, `[a-c]` and `[!a-c]` for one byte of a set or outside it, so
/// that `[*]` is a star. A bracket that is never closed is a plain character. Slashes, dots and backslashes have no
/// special meaning. Immutable. Threads: any.
class Glob {
 public:
  explicit Glob(std::string_view pattern);

  /// Whether all of `text` matches. Cost: at most O(text * pattern) for any input; fnmatch of the C library takes
  /// O(text ^ stars).
  [[nodiscard]] bool matches(std::string_view text) const noexcept;

 private:
  /// One byte of the text, or with `is_star` any number of bytes.
  struct Item {
    bool is_star = false;
    std::bitset<256> bytes = {};
  };

  std::vector<Item> items_;
};

}  // namespace onnxar::base
