// Decodes UTF-8 by the ranges of its second bytes.
#include "base/utf8.h"

#include <algorithm>
#include <array>

namespace onnxar::base {
namespace {

struct SecondByte {
  std::size_t length;       // length of the whole sequence
  unsigned char low, high;  // range of the second byte, which excludes overlong forms and surrogates
};

SecondByte second_byte(unsigned char lead) noexcept {
  if (lead >= 0xc2 && lead <= 0xdf) return {2, 0x80, 0xbf};
  if (lead == 0xe0) return {3, 0xa0, 0xbf};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead >= 0xe1 && lead <= 0xef) return {3, 0x80, 0xbf};
  if (lead == 0xf0) return {4, 0x90, 0xbf};
  if (lead >= 0xf1 && lead <= 0xf3) return {4, 0x80, 0xbf};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

unsigned char byte_at(std::string_view text, std::size_t i) noexcept { return static_cast<unsigned char>(text[i]); }

}  // namespace

std::size_t utf8_sequence_length(std::string_view text) noexcept {
  if (text.empty()) return 0;
  if (byte_at(text, 0) < 0x80) return 1;
  const SecondByte rule = second_byte(byte_at(text, 0));
  if (rule.length == 0 || text.size() < rule.length) return 0;
  if (byte_at(text, 1) < rule.low || byte_at(text, 1) > rule.high) return 0;
  for (std::size_t i = 2; i < rule.length; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80) return 0;
  }
  return rule.length;
}

char32_t utf8_code_point(std::string_view text) noexcept {
  constexpr std::array<unsigned char, 4> lead_bits = {0x7f, 0x1f, 0x0f, 0x07};
  const std::size_t length = utf8_sequence_length(text);
  if (length == 0) return 0;
  char32_t point = static_cast<char32_t>(byte_at(text, 0) & lead_bits[length - 1]);
  for (std::size_t i = 1; i < length; ++i) point = (point << 6U) | (byte_at(text, i) & 0x3fU);
  return point;
}

std::string_view utf8_prefix(std::string_view text, std::size_t most) noexcept {
  std::size_t end = std::min(most, text.size());
  // A sequence that `end` splits begins at one of the three bytes before it.
  for (std::size_t begin = end - std::min<std::size_t>(end, 3); begin < end; ++begin) {
    if (begin + utf8_sequence_length(text.substr(begin)) > end) end = begin;
  }
  return text.substr(0, end);
}

bool begins_with_control(std::string_view text) noexcept {
  if (text.empty()) return false;
  const unsigned char first = byte_at(text, 0);
  if (first == 0xc2) return text.size() > 1 && byte_at(text, 1) < 0xa0;
  return first < 0x20 || first == 0x7f;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace onnxar::base
