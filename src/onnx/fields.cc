#include "onnx/fields.h"

namespace onnxar::onnx {
namespace {

using wire::Type;

/// Whether the field is a value of `type`, or a packed run of such values that is not empty.
bool is_run(const wire::Field& field, Type type) noexcept {
  return field.type == type || (field.type == Type::length_delimited && field.value.size() != 0);
}

}  // namespace

bool is_typed_data_field(const wire::Field& field) noexcept {
  switch (field.number) {
    case tensor_field::float_data: return is_run(field, Type::fixed32);
    case tensor_field::double_data: return is_run(field, Type::fixed64);
    case tensor_field::int32_data:
    case tensor_field::int64_data:
    case tensor_field::uint64_data: return is_run(field, Type::varint);
    case tensor_field::string_data: return field.type == Type::length_delimited;  // an empty string is a value as well
    default: return false;
  }
}

std::optional<std::uint64_t> data_location_of(const wire::Field& field) noexcept {
  if (field.number != tensor_field::data_location || field.type != Type::varint) return std::nullopt;
  // Enumerations have 32 bits. In proto2 a field with a value that the schema lacks is an unknown field.
  const std::uint64_t value = field.number_value & 0xffffffffU;
  if (value != location_default && value != location_external) return std::nullopt;
  return value;
}

bool moves_with_data(const wire::Field& field) noexcept {
  const bool bytes = field.type == Type::length_delimited;
  switch (field.number) {
    case tensor_field::raw_data:
    case tensor_field::external_data: return bytes;
    case tensor_field::float_data:
    case tensor_field::int32_data:
    case tensor_field::int64_data:
    case tensor_field::double_data:
    case tensor_field::uint64_data: return bytes || is_typed_data_field(field);
    default: return data_location_of(field).has_value();
  }
}

}  // namespace onnxar::onnx
