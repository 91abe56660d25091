// Pieces of HTML.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace onnxar::tool::html {

inline std::string piece(std::string_view text) { return std::string(text); }
inline std::string piece(std::integral auto number) { return std::to_string(number); }

/// Concatenates strings and integers.
template <typename... Pieces>
std::string concat(const Pieces&... pieces) {
  std::string text;
  ((text += piece(pieces)), ...);
  return text;
}

/// Escapes `text`, first for a terminal, where the page may be printed, then for HTML.
std::string escaped_text(std::string_view text);
/// Returns `1 234 567`.
std::string grouped(std::uint64_t number);

}  // namespace onnxar::tool::html
