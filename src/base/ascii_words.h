// Tests on eight ASCII characters at once, in a 64-bit word.
#pragma once

#include <cstdint>

namespace onnxar::base {

constexpr std::uint64_t every_byte(std::uint64_t byte) noexcept { return byte * 0x0101010101010101ULL; }

/// Returns a word in which the top bit is set for exactly the bytes from `first` to `last`; bytes from 0x80 on never
/// match. For a byte below 0x80, adding 0x80 - first sets its top bit from `first` on, and adding 0x7f - last beyond
/// `last`. The sums stay below 0x100, so no byte carries into the next one.
constexpr std::uint64_t bytes_between(std::uint64_t word, unsigned char first, unsigned char last) noexcept {
  const std::uint64_t low_bits = word & every_byte(0x7f);
  const std::uint64_t from_first = low_bits + every_byte(0x80U - first);
  const std::uint64_t beyond_last = low_bits + every_byte(0x7fU - last);
  return (from_first ^ beyond_last) & ~word & every_byte(0x80);
}

/// Returns the word with its capital letters made small.
constexpr std::uint64_t folded_word(std::uint64_t word) noexcept {
  // 0x80 >> 2 is 0x20, the bit that small letters have and capitals do not.
  return word | (bytes_between(word, 'A', 'Z') >> 2U);
}

}  // namespace onnxar::base
