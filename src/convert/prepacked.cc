#include "convert/prepacked.h"

#include <algorithm>
#include <string_view>

#include "base/checked.h"
#include "base/text.h"
#include "onnx/external_data.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

constexpr std::string_view key_prefix = "prepacked";  // ONNX Runtime compares only this

/// Cuts the text up to the next `separator`, or to its end, off the front of `rest`.
std::string_view cut(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

/// Moves the ranges of `kernel|offset;length;checksum|offset;length;checksum|...` by `begin`. They must lie in the
/// first `size` bytes.
std::string moved(std::string_view value, std::uint64_t begin, std::uint64_t size, std::uint64_t tensor) {
  const std::string_view all = value;
  std::string out(cut(value, '|'));
  while (!value.empty()) {
    std::string_view range = cut(value, '|');
    const auto offset = base::plain_decimal(cut(range, ';')), length = base::plain_decimal(cut(range, ';'));
    if (!offset || !length || !base::length_within(*offset, length, size)) {
      throw Error(Code::onnx_external_out_of_range,
                  base::concat("the prepacked weights ", base::quoted(all), " are not ranges of the tensor's entry"),
                  {"", tensor});
    }
    out += base::concat("|", begin + *offset, ";", *length, ";", range);
  }
  return out;
}

}  // namespace

std::string prepacked_fields(Bytes model, const onnx::TensorView& tensor, const Archive& archive, std::uint64_t begin) {
  const auto entry = archive.find(*tensor.external.location);
  if (!entry) return {};  // a location in the archive's own file
  const Bytes data = archive.bytes(*entry);
  begin += static_cast<std::uint64_t>(data.data() - archive.file().data());
  std::string fields;
  onnx::Cursor cursor(model, tensor.range);
  for (onnx::Field field; cursor.next(field);) {
    if (field.number != onnx::tensor_field::external_data || field.type != onnx::Type::length_delimited) continue;
    const auto [key, value] = onnx::read_string_entry(model, field.value);
    if (!key.starts_with(key_prefix)) continue;
    const std::string there = moved(value, begin, data.size(), tensor.range.begin);
    onnx::append_string_entry(fields, onnx::tensor_field::external_data, key, there);
  }
  return fields;
}

}  // namespace onnxar
