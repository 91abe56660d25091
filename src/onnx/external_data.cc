#include "onnx/external_data.h"

#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/string_entry.h"
#include "onnxar/error.h"
#include "wire/encode.h"

namespace onnxar::onnx {
namespace {

constexpr std::string_view memory_prefix = "#onnxar:";
// Addresses in memory, as ONNX Runtime writes them into models that never leave its process.
constexpr std::string_view foreign_marker_begin = "*/_ORT_";

std::uint64_t number_of(std::string_view text, std::string_view key, Code code, std::uint64_t offset) {
  const auto value = base::plain_decimal(text);
  if (!value) {
    throw Error(code, base::concat("external_data ", key, " ", base::quoted(text), " is no plain decimal number"),
                {"", offset});
  }
  return *value;
}

}  // namespace

void ExternalData::add(Bytes model, wire::Range entry) {
  const StringEntry pair = read_string_entry(model, entry);
  add(pair.key, pair.value, entry.begin);
}

void ExternalData::add(std::string_view key, std::string_view value, std::uint64_t offset_of_pair) {
  std::optional<std::string_view>* known = key == "location"   ? &location
                                           : key == "offset"   ? &offset
                                           : key == "length"   ? &length
                                           : key == "checksum" ? &checksum
                                                               : nullptr;
  if (known == nullptr) {
    if (!unknown_key) unknown_key = key;
    return;
  }
  if (*known) {
    throw Error(Code::onnx_external_duplicate_key,
                base::concat("external_data has the key ", base::quoted(key), " twice"), {"", offset_of_pair});
  }
  *known = value;
}

ExternalSlice parse_external_data(const ExternalData& data, std::uint64_t offset_of_tensor) {
  if (!data.location || data.location->empty()) {
    throw Error(Code::onnx_external_no_location, "the tensor's data is external, but external_data has no location",
                {"", offset_of_tensor});
  }
  if (is_memory_location(*data.location) || data.location->starts_with(foreign_marker_begin)) {
    throw Error(Code::onnx_external_marker,
                base::concat("the location ", base::quoted(*data.location),
                             " names memory of a process that is gone; export the model again"),
                {"", offset_of_tensor});
  }
  ExternalSlice slice{std::string(*data.location), 0, std::nullopt};
  if (data.offset) slice.offset = number_of(*data.offset, "offset", Code::onnx_external_bad_offset, offset_of_tensor);
  if (data.length) slice.length = number_of(*data.length, "length", Code::onnx_external_bad_length, offset_of_tensor);
  return slice;
}

std::string external_data_fields(const ExternalLink& link) {
  std::string out;
  append_string_entry(out, tensor_field::external_data, "location", link.location);
  append_string_entry(out, tensor_field::external_data, "offset", std::to_string(link.offset));
  append_string_entry(out, tensor_field::external_data, "length", std::to_string(link.length));
  if (!link.checksum.empty()) append_string_entry(out, tensor_field::external_data, "checksum", link.checksum);
  wire::append_varint_field(out, tensor_field::data_location, location_external);
  return out;
}

std::string memory_location(std::uint64_t model_id, std::size_t index) {
  return base::concat(memory_prefix, model_id, ":", index);
}

bool is_memory_location(std::string_view location) noexcept { return location.starts_with(memory_prefix); }

std::optional<std::size_t> parse_memory_location(std::string_view location, std::uint64_t model_id) noexcept {
  if (!is_memory_location(location)) return std::nullopt;
  location.remove_prefix(memory_prefix.size());
  const std::size_t colon = location.find(':');
  if (colon == std::string_view::npos || base::plain_decimal(location.substr(0, colon)) != model_id)
    return std::nullopt;
  return base::plain_decimal(location.substr(colon + 1));
}

}  // namespace onnxar::onnx
