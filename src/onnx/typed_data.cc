// Converts typed fields of a TensorProto (float_data, int32_data, ...) to raw bytes.
#include "onnx/typed_data.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/checked.h"
#include "base/kept.h"
#include "base/little_endian.h"
#include "onnx/fields.h"
#include "onnxar/error.h"

namespace onnxar::onnx {
namespace {

/// The encoding of a data type in its typed field (onnx.proto, comments from TensorProto.float_data on).
struct Encoding {
  std::uint32_t field;
  Type type;                       // of one value: fixed32 and fixed64 are raw bytes already
  std::size_t width;               // of one value in raw data, in bytes
  std::int64_t low = 0, high = 0;  // the range of a signed varint; 64-bit values of either sign are all valid
  unsigned bits = 0;               // of one value in raw data if they are not whole bytes
};

constexpr std::int64_t low64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t high64 = std::numeric_limits<std::int64_t>::max();

std::optional<Encoding> encoding_of(DataType type) {
  using enum DataType;
  const auto int32_data = [](std::size_t width, std::int64_t low, std::int64_t high) {
    return Encoding{tensor_field::int32_data, Type::varint, width, low, high};
  };
  switch (type) {
    case float32:
    case complex64: return Encoding{tensor_field::float_data, Type::fixed32, 4};
    case float64:
    case complex128: return Encoding{tensor_field::double_data, Type::fixed64, 8};
    case int64: return Encoding{tensor_field::int64_data, Type::varint, 8, low64, high64};
    case uint64: return Encoding{tensor_field::uint64_data, Type::varint, 8, low64, high64};
    case uint32: return Encoding{tensor_field::uint64_data, Type::varint, 4, 0, 0xffffffff};
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
    case float8e8m0: return int32_data(1, 0, 0xff);
    case uint4:  // each value holds one byte of packed elements; onnx 1.16 takes the highest bit for a sign
    case int4:
    case float4e2m1:
    case uint2:
    case int2: return int32_data(1, -0x80, 0xff);
    case float6e2m3:  // each value holds one element
    case float6e3m2: return Encoding{tensor_field::int32_data, Type::varint, 1, 0, 0x3f, 6};
    default: return std::nullopt;
  }
}

/// Visits the typed field of the TensorProto at `tensor`: packed runs whole, unpacked values one by one. Stops, and
/// returns false, when `visit` does or when the field has a wire type that is neither.
template <typename Visit>
bool visit_runs(Bytes model, Range tensor, const Encoding& encoding, Visit visit) {
  Cursor cursor(model, tensor);
  for (Field field; cursor.next(field);) {
    if (field.number != encoding.field) continue;
    if (field.type != encoding.type && field.type != Type::length_delimited) return false;
    if (!visit(field)) return false;
  }
  return true;
}

/// Returns the encoding of the tensor's type. Empty if another typed field has values: readers disagree on which one of
/// two to use, so neither is converted.
std::optional<Encoding> encoding_of(const TensorView& tensor) {
  const auto encoding = encoding_of(tensor.type);
  const bool is_only_field = encoding && (tensor.typed_fields & ~(1U << encoding->field)) == 0;
  return is_only_field ? encoding : std::nullopt;
}

/// Decodes typed data while it is read, in pieces, so that the raw data is never in memory as a whole.
class TypedSource final : public ByteSource {
 public:
  TypedSource(base::Kept<Bytes> model, Range tensor, Encoding encoding, std::uint64_t size)
      : model_(model), tensor_(tensor), encoding_(encoding), size_(size) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  void read(const ByteSink& sink) const override {
    std::vector<std::byte> buffer;
    buffer.reserve(
        base::in_memory(std::min<std::uint64_t>(size_, piece_size) + sizeof(std::uint64_t)));  // most tensors are small
    Packing held;
    const auto put = [&](std::uint64_t value) {
      append(buffer, value, held);
      if (buffer.size() < piece_size) return;
      sink(buffer);
      buffer.clear();
    };
    visit_runs(model_, tensor_, encoding_, [&](const Field& field) {
      each_value(field, put);
      return true;
    });
    if (held.bits != 0) buffer.push_back(static_cast<std::byte>(held.value));
    if (!buffer.empty()) sink(buffer);
  }

  /// Returns the number of values whose raw bytes are `size()` bytes.
  [[nodiscard]] std::uint64_t values(const TensorView& tensor) const {
    return encoding_.bits == 0 ? size_ / encoding_.width : payload_size(DataType::uint8, tensor.dims).value_or(0);
  }

  /// Calls `put` with every whole value of a run, which may be one unpacked value. The last one may have been cut off,
  /// since mapped bytes may change after they were checked.
  template <typename Put>
  void each_value(const Field& field, const Put& put) const {
    for (std::uint64_t position = field.value.begin; position < field.value.end;) {
      if (encoding_.type == Type::varint) {
        put(read_varint(model_, position, field.value.end));
      } else {
        if (field.value.end - position < encoding_.width) return;
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

  /// The lowest bits of a byte that is not full yet.
  struct Packing {
    unsigned value = 0, bits = 0;
  };

  void append(std::vector<std::byte>& out, std::uint64_t value, Packing& held) const {
    if (encoding_.bits == 0) return base::append(out, value, encoding_.width);
    held.value |= static_cast<unsigned>(value) << held.bits;
    held.bits += encoding_.bits;
    if (held.bits < 8) return;
    out.push_back(static_cast<std::byte>(held.value));
    held.value >>= 8U;
    held.bits -= 8;
  }

  Bytes model_;
  Range tensor_;
  Encoding encoding_;
  std::uint64_t size_;
};

/// True if every run is whole, every value is in range, and their number is the one that the shape calls for (W9).
bool converts_exactly(Bytes model, const TensorView& tensor, const Encoding& encoding, const TypedSource& source) {
  std::uint64_t count = 0;
  bool in_range = true;
  const bool whole = visit_runs(model, tensor.range, encoding, [&](const Field& field) {
    if (encoding.type != Type::varint) {
      count += field.value.size() / encoding.width;  // every bit pattern is valid, so the values are not read
      return field.value.size() % encoding.width == 0;
    }
    source.each_value(field, [&](std::uint64_t value) {
      ++count;
      const auto number = static_cast<std::int64_t>(value);
      in_range = in_range && number >= encoding.low && number <= encoding.high;
    });
    return in_range;
  });
  return whole && count == source.values(tensor);
}

/// Returns the bytes of the only run or value, if values have a fixed width: such bytes are raw data already.
std::optional<Range> raw_run(Bytes model, Range tensor, const Encoding& encoding) {
  if (encoding.type == Type::varint) return std::nullopt;
  std::optional<Range> run;
  const bool single = visit_runs(model, tensor, encoding, [&run](const Field& field) {
    if (run) return false;
    run = field.value;
    return true;
  });
  return single ? run : std::nullopt;
}

}  // namespace

std::optional<TypedField> typed_field_of(DataType type) {
  if (type == DataType::string) return TypedField{tensor_field::string_data, 0};
  const auto encoding = encoding_of(type);
  if (!encoding) return std::nullopt;
  return TypedField{encoding->field, encoding->bits == 0 ? encoding->width : 0};
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

std::shared_ptr<const ByteSource> typed_data_source(base::Kept<Bytes> model, const TensorView& tensor) {
  if (const auto raw = raw_run_of(model, tensor)) return std::make_shared<SpanSource>(*raw);
  const auto encoding = encoding_of(tensor);
  const auto size = tensor.expected_size();
  if (!encoding || !size) return nullptr;
  auto source = std::make_shared<TypedSource>(model, tensor.range, *encoding, *size);
  return converts_exactly(model, tensor, *encoding, *source) ? source : nullptr;
}

std::optional<Bytes> raw_run_of(Bytes model, const TensorView& tensor) {
  const auto encoding = encoding_of(tensor);
  const auto run = encoding ? raw_run(model, tensor.range, *encoding) : std::nullopt;
  if (!run || run->size() != tensor.expected_size()) return std::nullopt;
  return run->of(model);
}

void prove_typed_data(Bytes model, const TensorView& tensor) {
  Cursor cursor(model, tensor.range);
  for (Field field; cursor.next(field);) {
    if (!is_typed_data_field(field)) continue;
    if (field.number == tensor_field::string_data) continue;  // repeated strings are never packed
    const std::size_t width = field.number == tensor_field::float_data    ? sizeof(float)
                              : field.number == tensor_field::double_data ? sizeof(double)
                                                                          : 0;
    if (width != 0 && field.value.size() % width != 0) {  // M2
      throw Error(Code::wire_truncated, "a packed run of numbers ends in the middle of one", {"", field.whole.begin},
                  {}, {Hint::get_model_again});
    }
    for (std::uint64_t at = field.value.begin; width == 0 && at < field.value.end;) {
      read_varint(model, at, field.value.end);
    }
  }
}

}  // namespace onnxar::onnx
