// Reads JSON (RFC 8259) value by value, with the position of each, so that a caller can replace parts of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/kept.h"
#include "onnxar/error.h"

namespace onnxar::base {

enum class JsonKind : std::uint8_t { object, list, string, other };

/// Describes a value in a text: its kind, and the bytes from `begin` to `end`.
struct JsonValue {
  JsonKind kind = JsonKind::other;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Describes a member of an object. `begin` is the position of its key.
struct JsonMember {
  std::string key;
  std::size_t begin = 0;
  JsonValue value;
};

/// Describes replacements in a text: the first byte of each, its end, and the new bytes.
using TextEdits = std::map<std::size_t, std::pair<std::size_t, std::string>>;

/// Returns the text with these replacements. REQUIRES: they do not overlap, and lie in the text.
std::string edited(std::string_view text, const TextEdits& edits);

/// Returns the text as a JSON string, in quotes. REQUIRES: it is UTF-8.
std::string json_string(std::string_view text);

/// Reads a text from its front. The caller asks for the kind of value that it expects, and skips other values. Repeated
/// keys are left to the caller. All functions throw `code`, with the offset of the byte plus `first`. Cost: O(bytes
/// read); no function calls itself, however deep the text is nested.
class JsonReader {
 public:
  /// Reads `text`. Also throws if the text is not UTF-8, or begins with a byte order mark.
  JsonReader(Kept<std::string_view> text, Code code, std::uint64_t first = 0);
  /// Reads one value of a text that another reader has checked to its end.
  JsonReader(Kept<std::string_view> text, Code code, const JsonValue& value) noexcept
      : text_(text.substr(0, value.end)), code_(code), at_(value.begin) {}

  /// Returns the text of a value.
  [[nodiscard]] std::string_view text_of(const JsonValue& value) const {
    return text_.substr(value.begin, value.end - value.begin);
  }

  /// Reads an object. Calls `member` with each unescaped key; `member` must read or skip the value.
  template <typename Member>
  void object(const Member& member) {
    list_of('{', '}', [&] {
      const std::string key = string();
      expect(':');
      member(key);
    });
  }
  /// Reads an object and returns its members in order, including those with equal keys.
  std::vector<JsonMember> members();
  /// Reads a list. `item` must read or skip an item.
  template <typename Item>
  void list(const Item& item) {
    list_of('[', ']', item);
  }
  /// Reads a string and returns it unescaped.
  std::string string();
  /// Reads a whole number below 2^64.
  std::uint64_t number();
  /// Skips a value of any kind, and checks it as the other functions do.
  JsonValue skip();
  /// Throws if anything but white space follows.
  void finish();

  [[noreturn]] void refuse(const std::string& what) const { refuse(what, code_); }
  [[noreturn]] void refuse(const std::string& what, Code code) const;

 private:
  template <typename Item>
  void list_of(char open, char close, const Item& item) {
    expect(open);
    if (accept(close)) return;
    do item();
    while (accept(','));
    expect(close);
  }

  std::size_t skip_spaces();
  [[nodiscard]] char next();
  bool accept(char c);
  void expect(char c);
  void skip_scalar();
  void skip_number();
  std::size_t skip_digits();
  unsigned hexadecimal();
  void append_escape(std::string& to);
  void append_code_point(std::string& to);

  std::string_view text_;
  Code code_;
  std::uint64_t first_ = 0;
  std::size_t at_ = 0;
};

}  // namespace onnxar::base
