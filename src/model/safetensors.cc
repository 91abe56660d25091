#include "model/safetensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>

#include "archive/file_kind.h"
#include "base/checked.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

using base::concat;

constexpr std::size_t length_size = 8;

DataType type_named(std::string_view name) {
  using Row = std::pair<std::string_view, DataType>;
  static constexpr std::array<Row, 17> types = {{{"BOOL", DataType::boolean},
                                                 {"U8", DataType::uint8},
                                                 {"I8", DataType::int8},
                                                 {"U16", DataType::uint16},
                                                 {"I16", DataType::int16},
                                                 {"U32", DataType::uint32},
                                                 {"I32", DataType::int32},
                                                 {"U64", DataType::uint64},
                                                 {"I64", DataType::int64},
                                                 {"F16", DataType::float16},
                                                 {"BF16", DataType::bfloat16},
                                                 {"F32", DataType::float32},
                                                 {"F64", DataType::float64},
                                                 {"F8_E4M3", DataType::float8e4m3fn},
                                                 {"F8_E5M2", DataType::float8e5m2},
                                                 {"C64", DataType::complex64},
                                                 {"C128", DataType::complex128}}};
  const auto* const found = std::ranges::find(types, name, &Row::first);
  return found == types.end() ? DataType::undefined : found->second;
}

/// Reads the JSON of the header. Only what the format allows: an object of tensors, and `__metadata__` of strings.
class Header {
 public:
  /// `data`: the bytes after the header, in which the offsets of tensors count.
  Header(std::string_view text, Bytes data) : text_(text), data_(data) {}

  std::map<std::string, SafeTensor> run() {
    if (!base::is_utf8(text_)) refuse("the header is not UTF-8");
    object([this](const std::string& name) {
      if (name == "__metadata__") return object([this](const std::string&) { string(); });
      if (!tensors_.try_emplace(name, tensor(name)).second)
        refuse(concat("the tensor ", base::quoted(name), " is there twice"));
    });
    if (skip_spaces() != text_.size()) refuse("the header goes on after its object");
    check_cover();
    return std::move(tensors_);
  }

 private:
  using Range = std::pair<std::uint64_t, std::uint64_t>;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Code::safetensors_malformed, what, {"", length_size + at_});
  }

  std::size_t skip_spaces() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) ++at_;
    return at_;
  }
  bool accept(char c) {
    if (skip_spaces() == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(concat("the header of a safetensors file must have `", c, "` here"));
  }

  template <typename Item>
  void list(char open, char close, const Item& item) {
    expect(open);
    if (accept(close)) return;
    do item();
    while (accept(','));
    expect(close);
  }
  template <typename Value>
  void object(const Value& value) {
    list('{', '}', [&] {
      const std::string key = string();
      expect(':');
      value(key);
    });
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    const char* const begin = text_.data() + skip_spaces();
    const auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value);
    const bool has_zero_before = end - begin > 1 && *begin == '0';  // JSON does not have these
    if (failed != std::errc() || has_zero_before) refuse("the header must have a number below 2^64 here");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  unsigned hexadecimal() {
    constexpr std::size_t digits = 4;
    unsigned value = 0;
    const char* const begin = text_.data() + at_;
    if (text_.size() - at_ < digits) refuse("an escape is cut short");
    const auto [end, failed] = std::from_chars(begin, begin + digits, value, 16);
    if (failed != std::errc() || end != begin + digits) refuse("an escape must have four hexadecimal digits");
    at_ += digits;
    return value;
  }

  /// Reads the digits of `\uXXXX`, and the second half of a pair of surrogates.
  void append_code_point(std::string& to) {
    unsigned point = hexadecimal();
    if (point >= 0xd800 && point < 0xe000) {
      const bool has_pair = point < 0xdc00 && text_.substr(at_).starts_with("\\u");
      if (has_pair) at_ += 2;
      const unsigned low = has_pair ? hexadecimal() : 0;
      if (low < 0xdc00 || low >= 0xe000) refuse("an escape is half of a pair");
      point = 0x10000 + ((point - 0xd800) << 10U) + (low - 0xdc00);
    }
    const auto add = [&to](unsigned byte) { to += static_cast<char>(byte); };
    if (point < 0x80) return add(point);
    const unsigned more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    constexpr std::array<unsigned, 4> heads = {0, 0xc0, 0xe0, 0xf0};
    add(heads.at(more) | (point >> (6 * more)));
    for (unsigned i = more; i-- != 0;) add(0x80U | ((point >> (6 * i)) & 0x3fU));
  }

  std::string string() {
    expect('"');
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < ' ') refuse("a string has a control character");
      if (c != '\\') {
        value += c;
        continue;
      }
      constexpr std::string_view escapes = "\"\\/bfnrt";
      constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
      const char letter = at_ < text_.size() ? text_[at_++] : '\0';
      const std::size_t which = escapes.find(letter);
      if (letter == 'u') {
        append_code_point(value);
      } else if (which != std::string_view::npos) {
        value += meanings[which];
      } else {
        refuse("a string has an escape that JSON does not have");
      }
    }
    expect('"');
    return value;
  }

  Range range() {
    std::vector<std::uint64_t> ends;
    list('[', ']', [&] { ends.push_back(number()); });
    if (ends.size() != 2 || ends[0] > ends[1] || ends[1] > data_.size()) {
      refuse(concat("data_offsets must be two numbers in order, up to ", data_.size()));
    }
    return {ends[0], ends[1]};
  }

  SafeTensor tensor(const std::string& name) {
    SafeTensor found;
    std::string type;
    Range place;
    std::string members;
    object([&](const std::string& key) {
      members += key + " ";
      if (key == "dtype") {
        type = string();
      } else if (key == "shape") {
        list('[', ']', [&] { found.dims.push_back(dimension()); });
      } else if (key == "data_offsets") {
        place = range();
      }
    });
    check_members(name, members);
    found.type = type_named(type);
    if (found.type == DataType::undefined) {
      throw Error(
          Code::safetensors_type,
          concat("tensor ", base::quoted(name), " has the type ", base::quoted(type), ", which ONNX does not have"),
          {"", length_size + at_});
    }
    if (payload_size(found.type, found.dims) != place.second - place.first) {
      refuse(concat("the data of tensor ", base::quoted(name), " has ", place.second - place.first,
                    " bytes, and its type and shape need another number"));
    }
    found.data = base::section(data_, place.first, place.second - place.first);
    if (place.first != place.second) ranges_.push_back(place);
    return found;
  }

  std::int64_t dimension() {
    const std::uint64_t value = number();
    if (!std::in_range<std::int64_t>(value)) refuse("a dimension is 2^63 or more");
    return static_cast<std::int64_t>(value);
  }

  /// Each of the three members once, and no others.
  void check_members(const std::string& name, std::string_view members) const {
    constexpr std::array<std::string_view, 3> wanted = {"dtype ", "shape ", "data_offsets "};
    std::size_t length = 0;
    bool complete = true;
    for (const std::string_view member : wanted) {
      complete = complete && members.find(member) != std::string_view::npos;
      length += member.size();
    }
    if (!complete || members.size() != length) {
      refuse(concat("tensor ", base::quoted(name), " must have dtype, shape and data_offsets, each once"));
    }
  }

  void check_cover() {
    std::ranges::sort(ranges_);
    std::uint64_t end = 0;
    for (const auto& [first, last] : ranges_) {
      if (first != end) refuse("the data of tensors overlaps, or has a hole");
      end = last;
    }
    if (end != data_.size()) refuse("bytes follow the data of the last tensor");
  }

  std::string_view text_;
  Bytes data_;
  std::size_t at_ = 0;
  std::map<std::string, SafeTensor> tensors_;
  std::vector<Range> ranges_;
};

}  // namespace

std::map<std::string, SafeTensor> parse_safetensors(Bytes file) {
  if (!looks_like_safetensors(file)) {
    throw Error(Code::safetensors_malformed, "it does not begin with the length of a header and the header", {"", 0});
  }
  const auto length = base::load<std::uint64_t>(file, 0);
  return Header(as_text(base::section(file, length_size, length)), base::section(file, length_size + length)).run();
}

}  // namespace onnxar
