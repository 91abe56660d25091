// Formats numbers and names for messages, and classifies the characters of names.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onnxar::base {

/// `0x40`
std::string hex(std::uint64_t value);

/// `1.50 GiB (1610612736 bytes)`; below 1 KiB only the bytes.
std::string human_size(std::uint64_t bytes);

/// The number of bytes of a name that a message shows. A hostile name must not fill the screen, and a million messages
/// with it must not fill the memory.
inline constexpr std::size_t longest_quoted = 200;

/// A name from a file, in quotes and escaped for a message. A name longer than `longest_quoted` is cut, and its length
/// is added: `"abc..." (1000 bytes)`.
std::string quoted(std::string_view name);

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_capital(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) noexcept { return is_capital(c) || (c >= 'a' && c <= 'z'); }
/// Returns the ASCII lower case of a capital, and every other character unchanged.
constexpr char folded(char c) noexcept { return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c; }
/// Returns the text with each ASCII capital in lower case.
std::string folded_copy(std::string_view text);
/// An ASCII letter, a digit or an underscore.
constexpr bool is_identifier_character(char c) noexcept { return is_digit(c) || is_letter(c) || c == '_'; }

/// Parses a plain decimal number below 2^64: digits only, without sign, blanks or leading zeros.
std::optional<std::uint64_t> plain_decimal(std::string_view text) noexcept;

inline std::string piece(std::string_view text) { return std::string(text); }
inline std::string piece(std::integral auto number) { return std::to_string(number); }

/// Joins pieces, which are strings and whole numbers.
template <typename... Pieces>
std::string concat(const Pieces&... pieces) {
  return (std::string() + ... + piece(pieces));
}

}  // namespace onnxar::base
