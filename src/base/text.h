// Formats text for messages, and classifies and folds ASCII characters.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onnxar::base {

/// Returns the number as `0x40`.
std::string hex(std::uint64_t value);

/// Returns `1.50 GiB (1610612736 bytes)`; below 1 KiB only the bytes.
std::string human_size(std::uint64_t bytes);

/// Returns `2.00 GiB (...), over the limit of 1.50 GiB (...)`.
std::string over_limit(std::uint64_t size, std::uint64_t limit);

/// The maximum number of bytes of a name that a message shows. A hostile name must not fill the screen, and a million
/// messages must not fill the memory.
inline constexpr std::size_t longest_quoted = 200;

/// Returns a name from a file, in quotes and escaped for a message. Truncates a name longer than `longest_quoted` and
/// adds its length: `"abc..." (1000 bytes)`.
std::string quoted(std::string_view name);

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_capital(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) noexcept { return is_capital(c) || (c >= 'a' && c <= 'z'); }
/// Returns the ASCII lower case of a capital, and every other character unchanged.
constexpr char folded(char c) noexcept { return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c; }
/// Returns the text with each ASCII capital in lower case.
std::string folded_copy(std::string_view text);
/// Returns the word in which every byte is `byte`.
constexpr std::uint64_t every_byte(std::uint64_t byte) noexcept { return byte * 0x0101010101010101ULL; }

/// Returns a word in which the top bit is set for exactly the bytes from `first` to `last`; bytes from 0x80 on never
/// match. For a byte below 0x80, adding 0x80 - first sets the top bit if the byte is at least `first`, and adding 0x7f
/// - last sets it if the byte is above `last`. The sums stay below 0x100, so no byte carries into the next one.
constexpr std::uint64_t bytes_between(std::uint64_t word, unsigned char first, unsigned char last) noexcept {
  const std::uint64_t low_bits = word & every_byte(0x7f);
  const std::uint64_t from_first = low_bits + every_byte(0x80U - first);
  const std::uint64_t beyond_last = low_bits + every_byte(0x7fU - last);
  return (from_first ^ beyond_last) & ~word & every_byte(0x80);
}

/// Returns the word of eight characters with ASCII capitals in lower case.
constexpr std::uint64_t folded_word(std::uint64_t word) noexcept {
  // 0x80 >> 2 is 0x20, the bit that lower-case letters have and capitals do not.
  return word | (bytes_between(word, 'A', 'Z') >> 2U);
}

/// True for an ASCII letter, a digit or an underscore.
constexpr bool is_identifier_character(char c) noexcept { return is_digit(c) || is_letter(c) || c == '_'; }

/// The digits of hexadecimal numbers as they are written.
inline constexpr std::string_view hexadecimal_digits = "0123456789abcdef";

/// Returns a digest in lower case; nothing if `text` does not have exactly this number of hexadecimal digits.
std::optional<std::string> parse_digest(std::string_view text, std::size_t digits);

/// The byte order mark of UTF-8, which editors on Windows write at the beginning of a text.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// Parses a decimal number below 2^64: digits only, without sign, blanks or leading zeros.
std::optional<std::uint64_t> plain_decimal(std::string_view text) noexcept;

void append(std::string& line, std::string_view text);
void append_number(std::string& line, std::uint64_t magnitude, bool is_negative);

/// Appends a whole number in decimal.
template <std::integral Number>
void append(std::string& line, Number number) {
  const bool is_negative = number < 0;
  append_number(line, is_negative ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number),
                is_negative);
}

/// Joins strings and whole numbers.
template <typename... Pieces>
std::string concat(const Pieces&... pieces) {
  std::string line;
  (append(line, pieces), ...);
  return line;
}

}  // namespace onnxar::base
