// Checks the field and the number of the values of a tensor, and words their faults.
#include "onnx/tensor_values.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <string_view>

#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/tensor_view.h"
#include "onnx/typed_data.h"
#include "onnxar/error.h"

namespace onnxar::onnx {
namespace {

using base::concat;

std::string_view name_of(std::uint32_t field) {
  switch (field) {
    case tensor_field::float_data: return "float_data";
    case tensor_field::int32_data: return "int32_data";
    case tensor_field::string_data: return "string_data";
    case tensor_field::int64_data: return "int64_data";
    case tensor_field::double_data: return "double_data";
    case tensor_field::uint64_data: return "uint64_data";
    default: return "raw_data";
  }
}

bool has_raw_values(const TensorView& tensor) { return tensor.raw_data && tensor.raw_data->size() != 0; }

/// Returns the lowest typed field that holds values. REQUIRES: tensor.typed_fields != 0.
std::uint32_t first_field(const TensorView& tensor) {
  return static_cast<std::uint32_t>(std::countr_zero(tensor.typed_fields));
}

std::string_view where_values_are(const TensorView& tensor) {
  if (has_raw_values(tensor)) return "raw_data";
  return tensor.typed_fields == 0 ? "typed data" : name_of(first_field(tensor));
}

/// `raw_data, float_data and int32_data`
std::string fields_with_values(const TensorView& tensor) {
  std::string text = has_raw_values(tensor) ? "raw_data" : "";
  if (tensor.typed_fields == 0) return text + " and typed data";
  for (std::uint32_t left = tensor.typed_fields; left != 0; left &= left - 1) {
    const bool last = (left & (left - 1)) == 0;
    text += text.empty() ? "" : last ? " and " : ", ";
    text += name_of(static_cast<std::uint32_t>(std::countr_zero(left)));
  }
  return text;
}

[[noreturn]] void refuse(Code code, const TensorView& tensor, const std::string& message) {
  throw Error(code, message, {"", tensor.range.begin});
}

void prove_one_field(const TensorView& tensor) {
  const int typed = tensor.typed_fields != 0 ? std::popcount(tensor.typed_fields) : tensor.typed_data ? 1 : 0;
  if (typed + (has_raw_values(tensor) ? 1 : 0) <= 1) return;
  refuse(Code::onnx_tensor_data_beside, tensor,  // M20
         concat("it has values in ", fields_with_values(tensor), ", and readers take one or the other; keep one"));
}

void prove_own_field(const TensorView& tensor) {
  const auto own = typed_field_of(tensor.type);
  if (!own) return;
  const bool string_in_raw = tensor.type == DataType::string && has_raw_values(tensor);
  const bool in_other = tensor.typed_fields != 0 && first_field(tensor) != own->number;
  if (!string_in_raw && !in_other) return;
  refuse(Code::onnx_tensor_wrong_field, tensor,  // M21
         concat("its values are in ", string_in_raw ? "raw_data" : name_of(first_field(tensor)), "; those of type ",
                to_string(tensor.type), " belong in ", name_of(own->number),
                tensor.type == DataType::string ? "" : " or raw_data"));
}

void prove_raw_size(const TensorView& tensor) {
  if (!tensor.raw_data) return;
  const std::uint64_t size = tensor.raw_data->size();
  const std::uint64_t expected = tensor.expected_size().value_or(0);
  if (size >= expected) return;  // longer raw data is only a remark (R8): all readers take its first bytes
  refuse(Code::onnx_tensor_length, tensor, raw_size_text(tensor, expected));  // M18
}

/// Returns the number of values in typed fields. REQUIRES: packed runs end with a whole value.
std::uint64_t count_values(Bytes model, const TensorView& tensor) {
  std::uint64_t count = 0;
  Cursor cursor(model, tensor.range);
  for (Field field; cursor.next(field);) {
    if (!is_typed_data_field(field)) continue;
    if (field.number == tensor_field::string_data) {
      ++count;
    } else if (field.number == tensor_field::float_data) {
      count += field.value.size() / sizeof(float);
    } else if (field.number == tensor_field::double_data) {
      count += field.value.size() / sizeof(double);
    } else {  // only the last byte of a varint has its high bit clear, so counting these counts values
      count += static_cast<std::uint64_t>(std::ranges::count_if(
          field.value.of(model), [](std::byte byte) { return (byte & std::byte{0x80}) == std::byte{0}; }));
    }
  }
  return count;
}

/// Returns the number of typed values of a tensor, and the number that type and dimensions call for. Empty without
/// typed values, and for an unknown type. REQUIRES: only the field of the type has values.
std::optional<Surplus> values_of(Bytes model, const TensorView& tensor) {
  const auto own = typed_field_of(tensor.type);
  if (tensor.typed_fields == 0 || !own) return std::nullopt;
  const std::uint64_t held = count_values(model, tensor);
  // Where a value is an element, payload_size of one byte per element returns the number of elements. An overflow means
  // more values than any tensor holds.
  const auto bytes = own->width == 0 ? payload_size(DataType::uint8, tensor.dims) : tensor.expected_size();
  const std::uint64_t width = std::max<std::uint64_t>(own->width, 1);
  return Surplus{held, bytes.value_or(std::numeric_limits<std::uint64_t>::max()) / width};
}

}  // namespace

std::string required_amount(DataType type, std::uint64_t amount) {
  return required_amount(type, std::to_string(amount));
}

std::string required_amount(DataType type, std::string_view amount) {
  return concat("type ", to_string(type), " and the dimensions call for ", amount);
}

Error length_fault(std::string_view held, DataType type, std::uint64_t required, Place place) {
  return {Code::onnx_tensor_length, concat(held, ", but ", required_amount(type, required)), std::move(place)};
}

std::string raw_size_text(const TensorView& tensor, std::uint64_t required) {
  return concat("raw_data holds ", tensor.raw_data->size(), " bytes, but ", required_amount(tensor.type, required));
}

void prove_type(const TensorView& tensor) {
  if (tensor.type != DataType::undefined) return;
  refuse(Code::onnx_tensor_no_type, tensor, "it has no data type (data_type is missing, or UNDEFINED)");  // M19
}

void prove_value_fields(const TensorView& tensor) {
  prove_one_field(tensor);
  prove_own_field(tensor);
  if (!tensor.has_elements() && (has_raw_values(tensor) || tensor.typed_data)) {  // M18
    refuse(Code::onnx_tensor_length, tensor,
           concat("the dimensions call for no elements, but ", where_values_are(tensor), " holds values"));
  }
  prove_raw_size(tensor);
}

void prove_values(Bytes model, const TensorView& tensor) {
  prove_value_fields(tensor);
  const auto values = values_of(model, tensor);
  if (!values || values->held >= values->wanted) return;
  throw length_fault(concat(name_of(first_field(tensor)), " holds ", values->held, " values"), tensor.type,  // M18
                     values->wanted, {"", tensor.range.begin});
}

std::optional<Surplus> surplus_values(Bytes model, const TensorView& tensor) {
  const auto values = values_of(model, tensor);
  return values && values->held > values->wanted ? values : std::nullopt;
}

}  // namespace onnxar::onnx
