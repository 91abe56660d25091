// Reads one TensorProto on the wire.
#include "onnx/tensor_view.h"

#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/error.h"

namespace onnxar::onnx {
namespace {

// Runtimes accept far fewer dimensions (M17). The limit bounds memory: a dimension of one byte on the wire takes eight.
constexpr std::size_t most_dims = 1024;

void add_dims(TensorView& tensor, Bytes model, const Field& field) {
  if (field.type == Type::varint) add_dim(tensor, field.number_value, field.whole.begin);
  if (field.type != Type::length_delimited) return;
  for (std::uint64_t position = field.value.begin; position < field.value.end;) {
    add_dim(tensor, read_varint(model, position, field.value.end), field.whole.begin);
  }
}

void take_scalar(TensorView& tensor, const Field& field) {
  if (field.number == tensor_field::data_type) {
    tensor.type = static_cast<DataType>(static_cast<std::int32_t>(field.number_value));
  }
  if (const auto location = data_location_of(field)) tensor.data_location = *location;
}

void take_bytes(TensorView& tensor, Bytes model, const Field& field, std::size_t depth) {
  if (field.number == tensor_field::name) tensor.name = as_text(field.value.of(model));
  if (field.number == tensor_field::raw_data) tensor.raw_data = field.value;
  if (field.number == tensor_field::segment) tensor.segment = true;
  if (field.number == tensor_field::external_data) {
    check_depth(depth, field);
    tensor.external.add(model, field.value);
  }
}

/// Notes whether the tensor has the form that this library writes: removing raw_data and inserting it again uses the
/// shortest length and the position by field number. Only a tensor of that form gets its original bytes back.
void note_form(TensorView& tensor, const Field& field, std::uint32_t last_number) {
  bool as_we_write_it = field.number >= last_number;
  if (field.number == tensor_field::raw_data) {
    const std::uint64_t shortest = 1 + varint_size(field.value.size());  // tag and length
    as_we_write_it = as_we_write_it && field.number != last_number && field.value.begin - field.whole.begin == shortest;
  } else if (moves_with_data(field)) {
    as_we_write_it = false;
  }
  tensor.restorable = tensor.restorable && as_we_write_it;
}

/// True if the field is a value of `type`, or a packed run of such values that is not empty.
bool is_run(const Field& field, Type type) noexcept {
  return field.type == type || (field.type == Type::length_delimited && field.value.size() != 0);
}

}  // namespace

void add_dim(TensorView& tensor, std::uint64_t value, std::uint64_t offset) {
  const auto dim = static_cast<std::int64_t>(value);
  if (dim < 0) {  // M17
    throw Error(Code::onnx_tensor_dims, base::concat("a dimension is negative: ", dim), {"", offset});
  }
  if (tensor.dims.size() >= most_dims) {  // M17
    throw Error(Code::onnx_tensor_dims, base::concat("the tensor has more than ", most_dims, " dimensions"),
                {"", offset});
  }
  tensor.dims.push_back(dim);
}

void check_product(const TensorView& tensor) {
  if (bits_per_element(tensor.type) != 0 && !tensor.expected_size()) {  // M17
    throw Error(Code::onnx_tensor_dims, "the product of the dimensions is beyond 64 bits", {"", tensor.range.begin});
  }
}

TensorView read_tensor(Bytes model, Range range, std::size_t depth) {
  TensorView tensor;
  tensor.range = range;
  Cursor cursor(model, range);
  std::uint32_t last_number = 0;
  for (Field field; cursor.next(field);) {
    note_form(tensor, field, last_number);
    last_number = field.number;
    if (field.number == tensor_field::dims) add_dims(tensor, model, field);
    if (is_typed_data_field(field)) {
      tensor.typed_data = true;
      tensor.typed_fields |= 1U << field.number;
    }
    if (field.type == Type::varint) take_scalar(tensor, field);
    if (field.type == Type::length_delimited) take_bytes(tensor, model, field, depth);
  }
  check_product(tensor);
  return tensor;
}

bool is_typed_data_field(const Field& field) noexcept {
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

std::optional<std::uint64_t> data_location_of(const Field& field) noexcept {
  if (field.number != tensor_field::data_location || field.type != Type::varint) return std::nullopt;
  // Enumerations have 32 bits. In proto2 a field with a value that the schema lacks is an unknown field.
  const std::uint64_t value = field.number_value & 0xffffffffU;
  if (value != location_default && value != location_external) return std::nullopt;
  return value;
}

bool moves_with_data(const Field& field) noexcept {
  const bool bytes = field.type == Type::length_delimited;
  switch (field.number) {
    case tensor_field::raw_data:
    case tensor_field::external_data: return bytes;
    case tensor_field::float_data:
    case tensor_field::int32_data:
    case tensor_field::int64_data:
    case tensor_field::double_data:
    case tensor_field::uint64_data: return bytes || is_typed_data_field(field);
    default: return data_location_of(field) == location_external;
  }
}

}  // namespace onnxar::onnx
