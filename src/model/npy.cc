// Parses the header of a `.npy` file, and checks its data against it.
#include "model/npy.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/kept.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "convert/numpy_format.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

using base::concat;

[[noreturn]] void refuse_damaged(const std::string& what) { throw Error(Code::numpy_array_malformed, what); }
[[noreturn]] void refuse_form(const std::string& what) { throw Error(Code::numpy_array_unsupported, what); }

/// Parses the description in a `.npy`, a Python literal: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
/// NumPy evaluates it as Python; this accepts only the three keys that NumPy writes.
class Description {
 public:
  explicit Description(base::Kept<std::string_view> text) : text_(text) {
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      // Python would take the last value. No writer repeats a key, so this is damage.
      if (!keys_.insert(key).second)
        refuse_damaged(concat("the header of the array has ", base::quoted(key), " twice"));
      expect(':');
      value_of(key);
      if (!accept(',') && peek() != '}') refuse_here();
    }
    if (skip_spaces() != text_.size()) refuse_here();
    if (descr.empty() || !keys_.contains("shape")) refuse_damaged("the header of the array lacks descr or shape");
  }

  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> dims;

 private:
  void value_of(const std::string& key) {
    if (key == "descr") {
      if (peek() == '[') refuse_form("the array has records; a tensor has elements of one type");
      descr = string();
    } else if (key == "fortran_order") {
      fortran_order = boolean();
    } else if (key == "shape") {
      shape();
    } else {
      refuse_damaged(concat("the header of the array has an unknown key ", base::quoted(key)));
    }
  }

  void shape() {
    expect('(');
    while (!accept(')')) {
      dims.push_back(number());
      if (!accept(',') && peek() != ')') refuse_here();
    }
  }

  bool boolean() {
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(skip_spaces()).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    refuse_here();
  }

  std::int64_t number() {
    std::int64_t value = -1;
    const char* const begin = text_.data() + skip_spaces();
    const auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failed != std::errc() || value < 0) refuse_here();
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse_here();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse_here();
    const std::size_t begin = std::exchange(at_, end + 1) + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  std::size_t skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_;
  }
  char peek() { return skip_spaces() < text_.size() ? text_[at_] : '\0'; }
  bool accept(char character) {
    if (peek() != character) return false;
    ++at_;
    return true;
  }
  void expect(char character) {
    if (!accept(character)) refuse_here();
  }
  [[noreturn]] void refuse_here() const {
    refuse_damaged(concat("the header of the array does not have NumPy's form from character ", at_,
                          " on: ", base::quoted(text_)));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::set<std::string> keys_;
};

/// Returns the offset of the description and its length, which the caller compares with the file's.
std::pair<std::size_t, std::size_t> place_of_description(Bytes file) {
  constexpr std::string_view magic = "\x93NUMPY";
  constexpr std::size_t before_length = 8;  // magic and version
  if (file.size() < before_length + 4 || as_text(file.first(magic.size())) != magic) {
    refuse_damaged("it does not begin with the signature of a .npy file");
  }
  const auto major = std::to_integer<unsigned>(file[magic.size()]);
  if (major < 1 || major > 3) refuse_form(concat("version ", major, " of the .npy format is not supported"));
  if (major == 1) return {before_length + 2, base::load<std::uint16_t>(file, before_length)};
  return {before_length + 4, base::load<std::uint32_t>(file, before_length)};
}

std::uint64_t element_size(const std::string& descr) {
  std::uint64_t size = 0;
  const char* const end = descr.data() + descr.size();
  const bool whole = descr.size() > 2 && std::from_chars(descr.data() + 2, end, size).ptr == end;
  if (!whole || size == 0 || std::string_view("biufcV").find(descr[1]) == std::string_view::npos) {
    refuse_form(concat("its elements have NumPy's type ", base::quoted(descr), ", which ONNX does not have"));
  }
  if (descr[0] == '>') refuse_form("its numbers are big-endian; save it with little-endian numbers");
  if (std::string_view("<|=").find(descr[0]) == std::string_view::npos) {
    refuse_damaged(concat("its elements have the byte order of ", base::quoted(descr), ", which NumPy does not have"));
  }
  return size;
}

}  // namespace

NpyArray parse_npy(Bytes file) {
  const auto [begin, length] = place_of_description(file);
  const auto text = base::slice(file, begin, length);
  if (!text) refuse_damaged("its header is longer than the file");
  const Description description(as_text(*text));
  if (description.fortran_order && description.dims.size() > 1) {
    refuse_form("it is in Fortran order; numpy.ascontiguousarray makes it C order");
  }
  const std::uint64_t size = element_size(description.descr);
  const Bytes data = file.subspan(begin + length);
  const auto elements = payload_size(DataType::uint8, description.dims);  // one byte each: their number
  const auto expected = elements ? base::checked_multiply(*elements, size) : std::nullopt;
  if (expected != data.size()) {
    const std::string wanted = expected ? concat("calls for ", *expected) : "calls for 2^64 or more";
    refuse_damaged(concat("its data has ", data.size(), " bytes, but its header ", wanted));
  }
  return {description.descr, description.dims, data};
}

bool is_numpy_form(DataType type, std::string_view descr) {
  const NumpyType numpy = numpy_type(type);
  const unsigned bits = bits_per_element(type);
  if (bits < 8 || descr.empty()) return false;
  const std::string_view form = descr.substr(1);  // parse_npy checked the byte order; `|` and `<` mean the same here
  if (form == std::string_view(numpy.descr).substr(1)) return true;
  return numpy.as_integers && form == concat("V", bits / 8);
}

}  // namespace onnxar
