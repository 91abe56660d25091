// Reads tensors from a safetensors file.
#include "model/safetensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "archive/file_kind.h"
#include "base/byte_range.h"
#include "base/json.h"
#include "base/kept.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

using base::concat;

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

/// Reads the header. Only what the format allows: an object of tensors, and `__metadata__` of strings.
class Header {
 public:
  /// `data`: the bytes after the header, in which the offsets of tensors count.
  Header(base::Kept<std::string_view> text, base::Kept<Bytes> data)
      : json_(text, Code::safetensors_malformed, safetensors_length_size), data_(data) {}

  std::map<std::string, SafeTensor> run() {
    json_.object([this](const std::string& name) {
      if (name == "__metadata__") return json_.object([this](const std::string&) { json_.string(); });
      if (!tensors_.try_emplace(name, tensor(name)).second)
        json_.refuse(concat("the tensor ", base::quoted(name), " occurs twice"));
    });
    json_.finish();
    check_cover();
    return std::move(tensors_);
  }

 private:
  using Range = std::pair<std::uint64_t, std::uint64_t>;

  Range range() {
    std::vector<std::uint64_t> ends;
    json_.list([&] { ends.push_back(json_.number()); });
    if (ends.size() != 2 || ends[0] > ends[1] || ends[1] > data_.size()) {
      json_.refuse(concat("data_offsets must be two numbers in order, up to ", data_.size()));
    }
    return {ends[0], ends[1]};
  }

  SafeTensor tensor(const std::string& name) {
    SafeTensor found;
    std::string type;
    Range place;
    std::string members;
    json_.object([&](const std::string& key) {
      members += key + " ";
      if (key == "dtype") {
        type = json_.string();
      } else if (key == "shape") {
        json_.list([&] { found.dims.push_back(dimension()); });
      } else if (key == "data_offsets") {
        place = range();
      } else {
        json_.skip();
      }
    });
    check_members(name, members);
    found.type = type_named(type);
    if (found.type == DataType::undefined) {
      json_.refuse(
          concat("tensor ", base::quoted(name), " has the type ", base::quoted(type), ", which ONNX does not have"),
          Code::safetensors_type);
    }
    if (payload_size(found.type, found.dims) != place.second - place.first) {
      json_.refuse(concat("the data of tensor ", base::quoted(name), " has ", place.second - place.first,
                          " bytes, and its type and shape need another number"));
    }
    found.data = base::section(data_, place.first, place.second - place.first);
    if (place.first != place.second) ranges_.push_back(place);
    return found;
  }

  std::int64_t dimension() {
    const std::uint64_t value = json_.number();
    if (!std::in_range<std::int64_t>(value)) json_.refuse("a dimension is 2^63 or more");
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
      json_.refuse(concat("tensor ", base::quoted(name), " must have dtype, shape and data_offsets, each once"));
    }
  }

  void check_cover() {
    std::ranges::sort(ranges_);
    std::uint64_t end = 0;
    for (const auto& [first, last] : ranges_) {
      if (first != end) json_.refuse("the data of tensors overlaps, or has a hole");
      end = last;
    }
    if (end != data_.size()) json_.refuse("bytes follow the data of the last tensor");
  }

  base::JsonReader json_;
  Bytes data_;
  std::map<std::string, SafeTensor> tensors_;
  std::vector<Range> ranges_;
};

}  // namespace

std::map<std::string, SafeTensor> parse_safetensors(Bytes file) {
  const std::optional<std::string_view> header = safetensors_header(file);
  if (!header) {
    throw Error(Code::safetensors_malformed, "it does not begin with the length of a header and the header", {"", 0});
  }
  return Header(*header, file.subspan(safetensors_length_size + header->size())).run();
}

}  // namespace onnxar
