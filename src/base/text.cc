// Decodes UTF-8, and formats numbers and names for messages.
#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include "base/little_endian.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

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

std::string hex(std::uint64_t value) {
  std::array<char, 19> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string human_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return concat(bytes, bytes == 1 ? " byte" : " bytes");
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f %s", value, units.at(unit));
  return concat(text.data(), " (", bytes, " bytes)");
}

std::string quoted(std::string_view name) {
  if (name.size() <= longest_quoted) return concat("\"", escaped(name), "\"");
  return concat("\"", escaped(utf8_prefix(name, longest_quoted)), "...\" (", name.size(), " bytes)");
}

std::string folded_copy(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(), folded);
  return copy;
}

std::optional<std::uint64_t> plain_decimal(std::string_view text) noexcept {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void append(std::string& line, std::string_view text) { line += text; }

void append_number(std::string& line, std::uint64_t magnitude, bool is_negative) {
  if (is_negative) line += '-';
  std::array<char, 20> digits{};
  line.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), magnitude).ptr);
}

}  // namespace onnxar::base
