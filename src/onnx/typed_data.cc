#include "onnx/typed_data.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/checked.h"
#include "base/little_endian.h"
#include "onnx/fields.h"
#include "onnxar/error.h"

namespace onnxar::onnx {
namespace {

/// The meaning of the bit patterns that IEEE 754 uses for infinities and NaNs.
enum class Special : std::uint8_t {
  ieee,               ///< infinities and NaNs
  nan_only,           ///< the last pattern of each sign is NaN, the others are numbers ("FN")
  negative_zero_nan,  ///< all are numbers, and the pattern of -0 is NaN ("FNUZ")
  none,               ///< all are numbers
};

struct Layout {
  unsigned exponent_bits, mantissa_bits;
  int bias;
  Special special;
};

std::optional<Layout> layout_of(DataType type) {
  switch (type) {
    case DataType::float16: return Layout{5, 10, 15, Special::ieee};
    case DataType::bfloat16: return Layout{8, 7, 127, Special::ieee};
    case DataType::float8e5m2: return Layout{5, 2, 15, Special::ieee};
    case DataType::float8e5m2fnuz: return Layout{5, 2, 16, Special::negative_zero_nan};
    case DataType::float8e4m3fn: return Layout{4, 3, 7, Special::nan_only};
    case DataType::float8e4m3fnuz: return Layout{4, 3, 8, Special::negative_zero_nan};
    case DataType::float4e2m1: return Layout{2, 1, 1, Special::none};
    default: return std::nullopt;
  }
}

float value_of(std::uint32_t bits, const Layout& layout) {
  const std::uint32_t sign = 1U << (layout.exponent_bits + layout.mantissa_bits);
  const std::uint32_t last_exponent = (1U << layout.exponent_bits) - 1;
  const std::uint32_t last_mantissa = (1U << layout.mantissa_bits) - 1;
  const std::uint32_t exponent = (bits >> layout.mantissa_bits) & last_exponent;
  const std::uint32_t mantissa = bits & last_mantissa;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const float factor = (bits & sign) != 0 ? -1.0F : 1.0F;
  if (layout.special == Special::ieee && exponent == last_exponent) {
    return mantissa != 0 ? nan : factor * std::numeric_limits<float>::infinity();
  }
  if (layout.special == Special::nan_only && exponent == last_exponent && mantissa == last_mantissa) return nan;
  if (layout.special == Special::negative_zero_nan && bits == sign) return nan;
  const bool subnormal = exponent == 0;
  const std::uint32_t significand = subnormal ? mantissa : mantissa | (last_mantissa + 1);
  const int power = static_cast<int>(subnormal ? 1 : exponent) - layout.bias - static_cast<int>(layout.mantissa_bits);
  // Exact: float has at least the exponent range and the mantissa of each of these types.
  return factor * std::ldexp(static_cast<float>(significand), power);
}

/// FLOAT8E8M0 has only an exponent: no sign and no zero, and the last pattern is NaN.
std::vector<float> powers_of_two() {
  std::vector<float> values;
  for (int exponent = -127; exponent < 128; ++exponent) values.push_back(std::ldexp(1.0F, exponent));
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  return values;
}

}  // namespace

std::vector<float> values_of_narrow_float(DataType type) {
  if (type == DataType::float8e8m0) return powers_of_two();
  const std::optional<Layout> layout = layout_of(type);
  if (!layout) return {};
  std::vector<float> values(std::size_t{1} << bits_per_element(type));
  for (std::uint32_t bits = 0; bits < values.size(); ++bits) values[bits] = value_of(bits, *layout);
  return values;
}

namespace {

/// The encoding of a data type in its typed field (onnx.proto, comments from TensorProto.float_data on).
struct Encoding {
  std::uint32_t field;
  wire::Type type;         // of one value: fixed32 and fixed64 are raw bytes already
  std::size_t width;       // of one value in raw data, in bytes
  std::int64_t low, high;  // the range of a varint as a signed number; 64-bit values of either sign are all valid
};

constexpr std::int64_t low64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t high64 = std::numeric_limits<std::int64_t>::max();

std::optional<Encoding> encoding_of(DataType type) {
  using enum DataType;
  const auto int32_data = [](std::size_t width, std::int64_t low, std::int64_t high) {
    return Encoding{tensor_field::int32_data, wire::Type::varint, width, low, high};
  };
  switch (type) {
    case float32:
    case complex64: return Encoding{tensor_field::float_data, wire::Type::fixed32, 4, 0, 0};
    case float64:
    case complex128: return Encoding{tensor_field::double_data, wire::Type::fixed64, 8, 0, 0};
    case int64: return Encoding{tensor_field::int64_data, wire::Type::varint, 8, low64, high64};
    case uint64: return Encoding{tensor_field::uint64_data, wire::Type::varint, 8, low64, high64};
    case uint32: return Encoding{tensor_field::uint64_data, wire::Type::varint, 4, 0, 0xffffffff};
    case int32: return int32_data(4, -0x80000000LL, 0x7fffffff);
    case int16: return int32_data(2, -0x8000, 0x7fff);
    case uint16:
    case float16:
    case bfloat16: return int32_data(2, 0, 0xffff);
    case int8: return int32_data(1, -0x80, 0x7f);
    case boolean: return int32_data(1, 0, 1);
    case uint8:
    case float8e4m3fn:
    case float8e4m3fnuz:
    case float8e5m2:
    case float8e5m2fnuz:
    case float8e8m0:
    case uint4:  // below 8 bits each value holds one byte of packed elements
    case int4:
    case float4e2m1:
    case uint2:
    case int2: return int32_data(1, 0, 0xff);
    default: return std::nullopt;
  }
}

/// Visits the typed field of the TensorProto at `tensor`: packed runs whole, unpacked values one by one. Stops, and
/// returns false, when `visit` does or when the field has a wire type that is neither.
template <typename Visit>
bool visit_runs(Bytes model, wire::Range tensor, const Encoding& encoding, Visit visit) {
  wire::Cursor cursor(model, tensor);
  for (wire::Field field; cursor.next(field);) {
    if (field.number != encoding.field) continue;
    if (field.type != encoding.type && field.type != wire::Type::length_delimited) return false;
    if (!visit(field)) return false;
  }
  return true;
}

/// Whether no other typed field has values. Given two, readers differ in which they take, so neither is converted.
bool is_only_field(Bytes model, const TensorView& tensor, std::uint32_t number) {
  wire::Cursor cursor(model, tensor.range);
  for (wire::Field field; cursor.next(field);) {
    if (is_typed_data_field(field) && field.number != number) return false;
  }
  return true;
}

/// Decodes typed data while it is read, in pieces, so that the raw data is never in memory as a whole.
class TypedSource final : public ByteSource {
 public:
  TypedSource(Bytes model, wire::Range tensor, Encoding encoding, std::uint64_t size)
      : model_(model), tensor_(tensor), encoding_(encoding), size_(size) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  void read(const ByteSink& sink) const override {
    std::vector<std::byte> buffer;
    buffer.reserve(
        base::in_memory(std::min<std::uint64_t>(size_, piece_size) + sizeof(std::uint64_t)));  // most tensors are small
    const auto put = [&](std::uint64_t value) {
      base::append(buffer, value, encoding_.width);
      if (buffer.size() < piece_size) return;
      sink(buffer);
      buffer.clear();
    };
    visit_runs(model_, tensor_, encoding_, [&](const wire::Field& field) {
      each_value(field, put);
      return true;
    });
    if (!buffer.empty()) sink(buffer);
  }

  /// Calls `put` with every value of a run. REQUIRES: the run ends with a whole value.
  template <typename Put>
  void each_value(const wire::Field& field, const Put& put) const {
    if (field.type != wire::Type::length_delimited) {
      put(field.number_value);
      return;
    }
    for (std::uint64_t position = field.value.begin; position < field.value.end;) {
      if (encoding_.type == wire::Type::varint) {
        put(wire::read_varint(model_, position, field.value.end));
      } else {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < encoding_.width; ++i) {
          value |= std::to_integer<std::uint64_t>(model_[base::in_memory(position++)]) << (8 * i);
        }
        put(value);
      }
    }
  }

 private:
  static constexpr std::size_t piece_size = 1U << 20U;

  Bytes model_;
  wire::Range tensor_;
  Encoding encoding_;
  std::uint64_t size_;
};

/// Whether every run is whole, every value is in range, and their number is the one that the shape calls for (W9).
bool converts_exactly(Bytes model, wire::Range tensor, const Encoding& encoding, const TypedSource& source) {
  std::uint64_t count = 0;
  bool in_range = true;
  const bool whole = visit_runs(model, tensor, encoding, [&](const wire::Field& field) {
    const bool packed_fixed = field.type == wire::Type::length_delimited && encoding.type != wire::Type::varint;
    if (packed_fixed) {
      count += field.value.size() / encoding.width;  // every bit pattern is valid, so the values are not read
      return field.value.size() % encoding.width == 0;
    }
    source.each_value(field, [&](std::uint64_t value) {
      ++count;
      const auto number = static_cast<std::int64_t>(value);
      in_range =
          in_range && (encoding.type != wire::Type::varint || (number >= encoding.low && number <= encoding.high));
    });
    return in_range;
  });
  return whole && count == source.size() / encoding.width;
}

/// The bytes of the only run, if it is a packed run of fixed-width values: such bytes are raw data already.
std::optional<wire::Range> raw_run(Bytes model, wire::Range tensor, const Encoding& encoding) {
  if (encoding.type == wire::Type::varint) return std::nullopt;
  std::optional<wire::Range> run;
  const bool single = visit_runs(model, tensor, encoding, [&run](const wire::Field& field) {
    if (run || field.type != wire::Type::length_delimited) return false;
    run = field.value;
    return true;
  });
  return single ? run : std::nullopt;
}

}  // namespace

std::optional<TypedField> typed_field_of(DataType type) {
  if (type == DataType::string) return TypedField{tensor_field::string_data, 0};
  const auto encoding = encoding_of(type);
  return encoding ? std::optional(TypedField{encoding->field, encoding->width}) : std::nullopt;
}

void refuse_conversion(const TensorView& tensor) {
  const Place place{"", tensor.range.begin};
  if (tensor.type == DataType::string) {
    throw Error(Code::onnx_tensor_strings, "it holds strings, which have no raw bytes", place, {},
                {Hint::dump_strings});
  }
  throw Error(Code::onnx_tensor_not_converted,
              "its typed data does not convert to raw bytes (wrong number of values, or values out of range)", place);
}

std::shared_ptr<const ByteSource> typed_data_source(Bytes model, const TensorView& tensor) {
  const auto encoding = encoding_of(tensor.type);
  const auto size = tensor.expected_size();
  if (!encoding || !size || !is_only_field(model, tensor, encoding->field)) return nullptr;
  if (const auto raw = packed_raw_bytes(model, tensor)) return std::make_shared<SpanSource>(*raw);
  auto source = std::make_shared<TypedSource>(model, tensor.range, *encoding, *size);
  return converts_exactly(model, tensor.range, *encoding, *source) ? source : nullptr;
}

std::optional<Bytes> packed_raw_bytes(Bytes model, const TensorView& tensor) {
  const auto encoding = encoding_of(tensor.type);
  const auto size = tensor.expected_size();
  if (!encoding || !size || !is_only_field(model, tensor, encoding->field)) return std::nullopt;
  const auto run = raw_run(model, tensor.range, *encoding);
  if (!run || run->size() != *size) return std::nullopt;
  return run->of(model);
}

void prove_typed_data(Bytes model, const TensorView& tensor) {
  wire::Cursor cursor(model, tensor.range);
  for (wire::Field field; cursor.next(field);) {
    if (field.type != wire::Type::length_delimited || !is_typed_data_field(field)) continue;
    if (field.number == tensor_field::string_data) continue;  // repeated strings are never packed
    const std::size_t width = field.number == tensor_field::float_data    ? sizeof(float)
                              : field.number == tensor_field::double_data ? sizeof(double)
                                                                          : 0;
    if (width != 0 && field.value.size() % width != 0) {  // M2
      throw Error(Code::wire_truncated, "a packed run of numbers ends in the middle of one", {"", field.whole.begin});
    }
    for (std::uint64_t at = field.value.begin; width == 0 && at < field.value.end;) {
      wire::read_varint(model, at, field.value.end);
    }
  }
}

}  // namespace onnxar::onnx
