// Pieces of HTML.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace onnxar::tool::html {

inline std::string piece(std::string_view text) { return std::string(text); }
inline std::string piece(std::integral auto number) { return std::to_string(number); }

/// The pieces, strings and whole numbers, one after another.
template <typename... Pieces>
std::string concat(const Pieces&... pieces) {
  std::string text;
  ((text += piece(pieces)), ...);
  return text;
}

/// `text` escaped, first for a terminal (someone may print the page), then for HTML.
std::string escaped_text(std::string_view text);
/// `1 234 567`
std::string grouped(std::uint64_t number);

}  // namespace onnxar::tool::html
