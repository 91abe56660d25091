#include "onnx/text_format.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace onnxar::onnx {
namespace {

bool is_white_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Skips white space and comments, which go from `#` to the end of the line.
void skip_blank(std::string_view& text) noexcept {
  while (!text.empty() && (is_white_space(text.front()) || text.front() == '#')) {
    const std::size_t length = text.front() == '#' ? std::min(text.find('\n'), text.size()) : 1;
    text.remove_prefix(length);
  }
}

/// Serialised models have a control character near the front: the tag of a field, or the length of a short string.
bool has_control(std::string_view text) noexcept {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' && !is_white_space(c); });
}

}  // namespace

bool looks_like_text(Bytes bytes) noexcept {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  constexpr std::size_t nearby = 256;
  std::string_view text = as_text(bytes);
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  skip_blank(text);
  const std::string_view begin = text.substr(0, nearby);
  const auto* const name_end = std::ranges::find_if_not(text, base::is_identifier_character);
  if (name_end == text.begin() || base::is_digit(text.front())) return false;
  text.remove_prefix(static_cast<std::size_t>(name_end - text.begin()));
  skip_blank(text);
  const bool has_value = !text.empty() && (text.front() == ':' || text.front() == '{' || text.front() == '<');
  return has_value && !has_control(begin);
}

}  // namespace onnxar::onnx
