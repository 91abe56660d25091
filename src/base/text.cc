// Formats numbers and names for messages.
#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include "base/utf8.h"
#include "onnxar/error.h"

namespace onnxar::base {

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

std::string over_limit(std::uint64_t size, std::uint64_t limit) {
  return concat(human_size(size), ", over the limit of ", human_size(limit));
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

std::optional<std::string> parse_digest(std::string_view text, std::size_t digits) {
  if (text.size() != digits) return std::nullopt;  // before the copy: the text of a hostile model may be long
  std::string digest = folded_copy(text);
  if (digest.find_first_not_of(hexadecimal_digits) != std::string::npos) return std::nullopt;
  return digest;
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
