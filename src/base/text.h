// Formats numbers and names for messages, and classifies the characters of names.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// A text, or a whole number that is written in decimal.
class Piece {
 public:
  explicit Piece(std::string_view text) noexcept : text_(text) {}
  template <std::integral Number>
  explicit Piece(Number number) noexcept
      : number_(number < 0 ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number)),
        sign_(number < 0 ? Sign::minus : Sign::plus) {}

  void append_to(std::string& line) const;

 private:
  enum class Sign : std::uint8_t { no_number, plus, minus };

  std::string_view text_;
  std::uint64_t number_ = 0;
  Sign sign_ = Sign::no_number;
};

std::string join(std::span<const Piece> pieces);

/// Joins strings and whole numbers. The work is in `join`, because messages need hundreds of instances of this one.
template <typename... Pieces>
std::string concat(const Pieces&... pieces) {
  return join(std::array{Piece(pieces)...});
}

}  // namespace onnxar::base
