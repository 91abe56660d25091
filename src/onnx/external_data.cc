// Reads and writes the `external_data` of a TensorProto.
#include "onnx/external_data.h"

#include <optional>

#include "base/byte_range.h"
#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/string_entry.h"
#include "onnx/wire.h"
#include "onnxar/error.h"

namespace onnxar::onnx {
namespace {

constexpr std::string_view memory_prefix = "#onnxar:";
// ONNX Runtime writes this prefix and an address in memory into models that must not leave its process.
constexpr std::string_view foreign_marker_begin = "*/_ORT_";

/// Accepts only plain decimal numbers: readers differ in how they read `+5`, `0x5` and `05`.
std::uint64_t number_of(std::string_view text, std::string_view key, Code code, std::uint64_t offset) {
  const auto value = base::plain_decimal(text);
  if (!value) {
    throw Error(code, base::concat("external_data ", key, " ", base::quoted(text), " is not a plain decimal number"),
                {"", offset});
  }
  return *value;
}

}  // namespace

void ExternalData::add(Bytes model, Range entry) {
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
  if (*known) {  // M10: some readers take the first pair, others the last
    throw Error(Code::onnx_external_duplicate_key,
                base::concat("external_data has the key ", base::quoted(key), " twice"), {"", offset_of_pair});
  }
  *known = value;
}

ExternalSlice parse_external_data(const ExternalData& data, std::uint64_t offset_of_tensor) {
  if (!data.location || data.location->empty()) {  // M8
    throw Error(Code::onnx_external_no_location, "the tensor's data is external, but external_data has no location",
                {"", offset_of_tensor});
  }
  if (is_memory_location(*data.location) || data.location->starts_with(foreign_marker_begin)) {  // M14
    throw Error(Code::onnx_external_marker,
                base::concat("the location ", base::quoted(*data.location),
                             " names memory of a process that has ended; export the model again"),
                {"", offset_of_tensor});
  }
  ExternalSlice slice{std::string(*data.location), 0, std::nullopt};
  if (data.offset) {  // M11
    slice.offset = number_of(*data.offset, "offset", Code::onnx_external_bad_offset, offset_of_tensor);
  }
  if (data.length) {  // M12
    slice.length = number_of(*data.length, "length", Code::onnx_external_bad_length, offset_of_tensor);
  }
  return slice;
}

std::uint64_t length_in(const ExternalSlice& slice, std::optional<std::uint64_t> expected, std::uint64_t size,
                        std::string_view holder, std::uint64_t offset_of_tensor, std::string_view hint) {
  const auto stated = slice.length ? slice.length : expected;
  const auto length = base::length_within(slice.offset, stated, size);
  // Without a length, an offset beyond the end is refused as well, instead of giving an empty slice (M12, M13).
  if (length) return *length;
  const std::string whole = base::concat("the ", holder, " ", base::quoted(slice.location));
  throw Error(Code::onnx_external_out_of_range,  // M13
              base::concat(base::range_fault(slice.offset, stated, whole, size), hint), {"", offset_of_tensor});
}

void refuse_missing(std::string_view location, std::string_view holder, std::uint64_t offset_of_tensor) {
  throw Error(Code::onnx_external_missing,  // M9
              base::concat("it refers to ", base::quoted(location), ", which is not an entry of ", holder),
              {"", offset_of_tensor});
}

std::string external_data_fields(const ExternalLink& link) {
  std::string out;
  constexpr std::size_t most_beside = 128;  // keys, numbers, tags and lengths; a model may have a million links
  out.reserve(link.location.size() + link.checksum.size() + link.more.size() + most_beside);
  append_string_entry(out, tensor_field::external_data, "location", link.location);
  append_string_entry(out, tensor_field::external_data, "offset", std::to_string(link.offset));
  append_string_entry(out, tensor_field::external_data, "length", std::to_string(link.length));
  if (!link.checksum.empty()) append_string_entry(out, tensor_field::external_data, "checksum", link.checksum);
  out += link.more;
  append_varint_field(out, tensor_field::data_location, location_external);
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
