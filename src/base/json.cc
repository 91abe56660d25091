// Reads JSON (RFC 8259) value by value, and quotes strings for it.
#include "base/json.h"

#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/kept.h"
#include "base/text.h"
#include "base/utf8.h"

namespace onnxar::base {

std::string edited(std::string_view text, const TextEdits& edits) {
  std::string result;
  std::size_t kept = 0;  // the end of the text that was copied
  for (const auto& [begin, edit] : edits) {
    result.append(text, kept, begin - kept).append(edit.second);
    kept = edit.first;
  }
  result.append(text, kept);
  return result;
}

std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ') {
      json += concat("\\u00", hexadecimal_digits.substr(byte >> 4U, 1), hexadecimal_digits.substr(byte & 15U, 1));
    } else {
      if (c == '"' || c == '\\') json += '\\';
      json += c;
    }
  }
  return json + '"';
}

JsonReader::JsonReader(Kept<std::string_view> text, Code code, std::uint64_t first)
    : text_(text), code_(code), first_(first) {
  if (text.starts_with(byte_order_mark)) refuse("the text begins with a byte order mark, which JSON does not allow");
  if (!is_utf8(text)) refuse("the text is not UTF-8");
}

void JsonReader::refuse(const std::string& what, Code code) const { throw Error(code, what, {"", first_ + at_}); }

std::size_t JsonReader::skip_spaces() {
  while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) ++at_;
  return at_;
}

/// Returns the next character that is not white space; a zero byte at the end.
char JsonReader::next() { return skip_spaces() < text_.size() ? text_[at_] : '\0'; }

bool JsonReader::accept(char c) {
  if (skip_spaces() == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonReader::expect(char c) {
  if (!accept(c)) refuse(concat("the text must have `", std::string_view(&c, 1), "` here"));
}

std::uint64_t JsonReader::number() {
  std::uint64_t value = 0;
  const char* const begin = text_.data() + skip_spaces();
  const auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value);
  const bool has_zero_before = end - begin > 1 && *begin == '0';  // not valid in JSON
  if (failed != std::errc() || has_zero_before) refuse("the text must have a number below 2^64 here");
  at_ += static_cast<std::size_t>(end - begin);
  return value;
}

unsigned JsonReader::hexadecimal() {
  constexpr std::size_t digits = 4;
  unsigned value = 0;
  const char* const begin = text_.data() + at_;
  if (text_.size() - at_ < digits) refuse("an escape is cut short");
  const auto [end, failed] = std::from_chars(begin, begin + digits, value, 16);
  if (failed != std::errc() || end != begin + digits) refuse("an escape must have four hexadecimal digits");
  at_ += digits;
  return value;
}

/// Reads the digits of `\uXXXX`, and the second half of a surrogate pair.
void JsonReader::append_code_point(std::string& to) {
  unsigned point = hexadecimal();
  if (point >= 0xd800 && point < 0xe000) {
    const bool has_pair = point < 0xdc00 && text_.substr(at_).starts_with("\\u");
    if (has_pair) at_ += 2;
    const unsigned low = has_pair ? hexadecimal() : 0;
    if (low < 0xdc00 || low >= 0xe000) refuse("an escape is half of a surrogate pair");
    point = 0x10000 + ((point - 0xd800) << 10U) + (low - 0xdc00);
  }
  const auto add = [&to](unsigned byte) { to += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  const unsigned more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr std::array<unsigned, 4> heads = {0, 0xc0, 0xe0, 0xf0};
  add(heads.at(more) | (point >> (6 * more)));
  for (unsigned i = more; i-- != 0;) add(0x80U | ((point >> (6 * i)) & 0x3fU));
}

void JsonReader::append_escape(std::string& to) {
  constexpr std::string_view escapes = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const char letter = at_ < text_.size() ? text_[at_++] : '\0';
  if (letter == 'u') return append_code_point(to);
  const std::size_t which = escapes.find(letter);
  if (which == std::string_view::npos) refuse("a string has an escape that JSON does not have");
  to += meanings[which];
}

std::string JsonReader::string() {
  expect('"');
  std::string value;
  while (at_ < text_.size() && text_[at_] != '"') {
    const char c = text_[at_++];
    if (static_cast<unsigned char>(c) < ' ') refuse("a string has a control character");
    if (c == '\\') {
      append_escape(value);
    } else {
      value += c;
    }
  }
  if (at_ == text_.size()) refuse("a string does not end");
  ++at_;
  return value;
}

std::vector<JsonMember> JsonReader::members() {
  std::vector<JsonMember> found;
  list_of('{', '}', [&] {
    const std::size_t begin = skip_spaces();
    std::string key = string();
    expect(':');
    found.push_back({std::move(key), begin, skip()});
  });
  return found;
}

std::size_t JsonReader::skip_digits() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  return at_ - begin;
}

void JsonReader::skip_number() {
  const auto accept_here = [this](std::string_view any) {
    const bool is_there = at_ < text_.size() && any.find(text_[at_]) != std::string_view::npos;
    if (is_there) ++at_;
    return is_there;
  };
  const auto expect_digits = [this] {
    if (skip_digits() == 0) refuse("the text must have a digit here");
  };
  accept_here("-");
  if (!accept_here("0")) expect_digits();
  if (accept_here(".")) expect_digits();
  if (!accept_here("eE")) return;
  accept_here("+-");
  expect_digits();
}

void JsonReader::skip_scalar() {
  const char c = next();
  if (c == '"') return static_cast<void>(string());
  if (c == '-' || is_digit(c)) return skip_number();
  for (const std::string_view word : {"true", "false", "null"}) {
    if (!text_.substr(at_).starts_with(word)) continue;
    at_ += word.size();
    return;
  }
  refuse("the text must have a value here (JSON has no NaN, comments or single quotes)");
}

/// Keeps a string of the expected closing brackets, one byte for each level.
JsonValue JsonReader::skip() {
  const char first = next();
  JsonValue value{first == '{'   ? JsonKind::object
                  : first == '[' ? JsonKind::list
                  : first == '"' ? JsonKind::string
                                 : JsonKind::other,
                  at_, at_};
  std::string open;
  do {  // reads a value, or its opening bracket
    if (!open.empty() && open.back() == '}') {
      string();
      expect(':');
    }
    const char c = next();
    const bool opens = c == '{' || c == '[';
    if (opens) {
      ++at_;
      open += c == '{' ? '}' : ']';
    } else {
      skip_scalar();
    }
    if (opens && next() != open.back()) continue;
    while (!open.empty() && accept(open.back())) open.pop_back();
    if (!open.empty()) expect(',');
  } while (!open.empty());
  value.end = at_;
  return value;
}

void JsonReader::finish() {
  if (skip_spaces() != text_.size()) refuse("the text goes on after its value");
}

}  // namespace onnxar::base
