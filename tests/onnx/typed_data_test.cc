// Typed fields convert exactly to their raw bytes, or not at all.
#include "onnx/typed_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "onnx/error_of.h"
#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using Values = std::vector<std::int64_t>;

/// The encoding of a type whose values are varints, from a second copy of the schema's comments.
struct VarintType {
  std::uint64_t type = 0;
  std::uint32_t field = 0;
  std::size_t width = 0;           // of a value in raw data, in bytes
  std::int64_t low = 0, high = 0;  // the range of a value
  std::int64_t per_value = 1;      // elements in one value
};

constexpr std::int64_t low64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t high64 = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t int32_data = tensor_field::int32_data;

constexpr std::array varint_types = {
    VarintType{dtype::int64, tensor_field::int64_data, 8, low64, high64},
    VarintType{dtype::uint64, tensor_field::uint64_data, 8, low64, high64},  // the upper half read as negative
    VarintType{dtype::uint32, tensor_field::uint64_data, 4, 0, 4294967295},
    VarintType{dtype::int32, int32_data, 4, -2147483648LL, 2147483647},
    VarintType{dtype::int16, int32_data, 2, -32768, 32767},
    VarintType{dtype::uint16, int32_data, 2, 0, 65535},
    VarintType{dtype::float16, int32_data, 2, 0, 65535},
    VarintType{dtype::bfloat16, int32_data, 2, 0, 65535},
    VarintType{dtype::int8, int32_data, 1, -128, 127},
    VarintType{dtype::uint8, int32_data, 1, 0, 255},
    VarintType{dtype::boolean, int32_data, 1, 0, 1},
    VarintType{dtype::float8e4m3fn, int32_data, 1, 0, 255},
    VarintType{dtype::float8e4m3fnuz, int32_data, 1, 0, 255},
    VarintType{dtype::float8e5m2, int32_data, 1, 0, 255},
    VarintType{dtype::float8e5m2fnuz, int32_data, 1, 0, 255},
    VarintType{dtype::float8e8m0, int32_data, 1, 0, 255},
    VarintType{dtype::uint4, int32_data, 1, -128, 255, 2},
    VarintType{dtype::int4, int32_data, 1, -128, 255, 2},
    VarintType{dtype::float4e2m1, int32_data, 1, -128, 255, 2},
    VarintType{dtype::uint2, int32_data, 1, -128, 255, 4},
    VarintType{dtype::int2, int32_data, 1, -128, 255, 4},
};

Values typical_values(const VarintType& row) { return {row.low, row.high, 0, 1, row.high / 2, row.low / 2}; }

Message varints(std::uint32_t field, const Values& values, Repeated form) {
  std::vector<std::uint64_t> bits;
  for (const std::int64_t value : values) bits.push_back(static_cast<std::uint64_t>(value));
  if (form == Repeated::packed) return Message().packed_varints(field, bits);
  Message out;
  for (const std::uint64_t value : bits) out.varint(field, value);
  return out;
}

Blob little_endian(const Values& values, std::size_t width) {
  Blob out;
  for (const std::int64_t value : values) {
    for (std::size_t i = 0; i < width; ++i) {
      out.push_back(static_cast<std::byte>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xffU));
    }
  }
  return out;
}

/// The bytes of a source; empty for a null source.
std::optional<Blob> read_source(const std::shared_ptr<const ByteSource>& source) {
  if (!source) return std::nullopt;
  Blob all;
  source->read([&all](Bytes piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  EXPECT_EQ(source->size(), all.size());
  return all;
}

std::optional<Blob> converted(const Message& tensor) {
  const Blob model = Message(tensor).take();
  const auto source = onnx::typed_data_source(model, onnx::read_tensor(model, {0, model.size()}));
  const auto once = read_source(source);
  EXPECT_EQ(read_source(source), once) << "the second reading differs";
  return once;
}

Message typed(std::uint64_t type, const Dims& dims, const Message& data) {
  return Message().raw(tensor("", type, dims)).raw(data).string(tensor_field::name, "w");
}

/// A sequence of values, in every encoding of the wire format.
Messages all_forms(std::uint32_t field, const Values& values) {
  const auto part = [&](std::size_t from, std::size_t to, Repeated form) {
    const auto at = [&values](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
    return varints(field, Values(at(from), at(to)), form);
  };
  const std::size_t n = values.size();
  const Message elsewhere = Message().string(tensor_field::doc_string, "between runs").fixed32(777, 1);
  return {
      part(0, n, Repeated::packed),
      part(0, n, Repeated::unpacked),
      Message().raw(part(0, 2, Repeated::packed)).raw(part(2, n, Repeated::packed)),
      Message().raw(part(0, 2, Repeated::unpacked)).raw(part(2, n, Repeated::packed)),
      Message().raw(part(0, 1, Repeated::packed)).raw(elsewhere).raw(part(1, n, Repeated::unpacked)),
      Message().raw(part(0, 0, Repeated::packed)).raw(part(0, n, Repeated::packed)).raw(part(n, n, Repeated::packed)),
  };
}

TEST(TypedData, ConvertsEveryVarintTypeInEveryForm) {
  for (const VarintType& row : varint_types) {
    const Values values = typical_values(row);
    const Dims dims = {static_cast<std::int64_t>(values.size()) * row.per_value};
    for (const Message& data : all_forms(row.field, values)) {
      EXPECT_EQ(converted(typed(row.type, dims, data)), little_endian(values, row.width)) << row.type;
    }
  }
}

TEST(TypedData, ReadsOnlyWholeValuesOfARunThatShrank) {
  const std::string value(8, '\0');
  Blob model = Message()
                   .raw(tensor("", dtype::float64, {2}))
                   .string(tensor_field::double_data, value)
                   .string(tensor_field::double_data, value)
                   .take();
  const auto source = onnx::typed_data_source(model, onnx::read_tensor(model, {0, model.size()}));
  ASSERT_TRUE(source);
  // Another process changes the mapped file: the last run has 5 bytes, and a varint field follows it.
  model[model.size() - 9] = std::byte{5};
  const Blob field = Message().varint(1, 129).take();
  ASSERT_EQ(field.size(), 3U);
  std::copy(field.begin(), field.end(), model.end() - 3);
  std::size_t read = 0;
  source->read([&read](Bytes piece) { read += piece.size(); });
  EXPECT_EQ(read, 8U);
}

TEST(TypedData, AValueOutOfRangeIsNotConverted) {
  for (const VarintType& row : varint_types) {
    if (row.width == 8) continue;  // 64 bits hold every value
    for (const std::int64_t value : {row.low - 1, row.high + 1, low64, high64}) {
      const Message data = varints(row.field, {0, value}, Repeated::packed);
      EXPECT_EQ(converted(typed(row.type, {2 * row.per_value}, data)), std::nullopt) << row.type << ": " << value;
      for (const Repeated form : {Repeated::packed, Repeated::unpacked}) {
        const Message first = varints(row.field, {value, 0}, form);
        EXPECT_EQ(converted(typed(row.type, {2 * row.per_value}, first)), std::nullopt) << row.type;
      }
    }
  }
}

TEST(TypedData, NegativeNumbersTakeTenBytes) {
  const Message data = Message().signed_varint(tensor_field::int32_data, -1);
  EXPECT_EQ(data.size(), 11U);
  EXPECT_EQ(converted(typed(dtype::int32, {1}, data)), Blob(4, std::byte{0xff}));
  // The same bits in five bytes are a different number.
  EXPECT_EQ(converted(typed(dtype::int32, {1}, Message().varint(tensor_field::int32_data, 0xffffffff))), std::nullopt);
}

TEST(TypedData, RefusesAnotherCountThanTheShape) {
  for (const VarintType& row : varint_types) {
    for (const std::size_t count : {0U, 1U, 2U, 4U, 6U}) {
      const Message data = varints(row.field, Values(count, 1), Repeated::packed);
      EXPECT_EQ(converted(typed(row.type, {3 * row.per_value}, data)), std::nullopt) << row.type << " x " << count;
    }
  }
}

TEST(TypedData, ElementsBelowEightBitsFillTheLastByte) {
  const Message three_bytes = varints(int32_data, {0x21, 0x43, 0x05}, Repeated::packed);
  const Blob expected = little_endian({0x21, 0x43, 0x05}, 1);
  EXPECT_EQ(converted(typed(dtype::uint4, {5}, three_bytes)), expected);
  EXPECT_EQ(converted(typed(dtype::int4, {2, 3}, three_bytes)), expected);
  EXPECT_EQ(converted(typed(dtype::uint4, {4}, three_bytes)), std::nullopt);
  EXPECT_EQ(converted(typed(dtype::uint4, {7}, three_bytes)), std::nullopt);
  for (const std::int64_t elements : {9, 10, 11, 12}) {
    EXPECT_EQ(converted(typed(dtype::uint2, {elements}, three_bytes)), expected) << elements;
  }
  EXPECT_EQ(converted(typed(dtype::uint2, {8}, three_bytes)), std::nullopt);
  EXPECT_EQ(converted(typed(dtype::uint2, {13}, three_bytes)), std::nullopt);
}

TEST(TypedData, ElementsOfSixBitsArePacked) {
  const Values values = {0x01, 0x3f, 0x20, 0x15, 0x2a};  // from the lowest bits on: 3f0 01, 15 8 0f, 2a
  const Blob expected = little_endian({0xc1, 0x0f, 0x56, 0x2a}, 1);
  for (const std::uint64_t type : {dtype::float6e2m3, dtype::float6e3m2}) {
    for (const Message& data : all_forms(int32_data, values)) {
      EXPECT_EQ(converted(typed(type, {5}, data)), expected) << type;
      EXPECT_EQ(converted(typed(type, {4}, data)), std::nullopt) << type;
      EXPECT_EQ(converted(typed(type, {6}, data)), std::nullopt) << type;
    }
    EXPECT_EQ(converted(typed(type, {1}, varints(int32_data, {0}, Repeated::packed))), Blob(1)) << type;
    for (const std::int64_t value : {-1, 0x40}) {
      EXPECT_EQ(converted(typed(type, {1}, varints(int32_data, {value}, Repeated::packed))), std::nullopt) << value;
    }
  }
}

// A NaN with a payload, a negative zero and a denormal: bits that arithmetic would change.
const std::vector<std::uint32_t> awkward_floats = {0x7fa00001, 0x80000000, 0x00000001, 0x3f800000};
const std::vector<std::uint64_t> awkward_doubles = {0x7ff4000000000001, 0x8000000000000000, 1, 0x3ff0000000000000};

/// Expects a type whose elements take `values_per_element` of four values to have these bytes, and no more or less.
void expect_bits_kept(std::uint64_t type, std::int64_t values_per_element, const Blob& expected,
                      const Messages& forms) {
  const std::int64_t elements = 4 / values_per_element;
  for (const Message& data : forms) {
    EXPECT_EQ(converted(typed(type, {elements}, data)), expected) << type;
    EXPECT_EQ(converted(typed(type, {elements + 1}, data)), std::nullopt) << type;
    EXPECT_EQ(converted(typed(type, {elements - 1}, data)), std::nullopt) << type;
  }
}

TEST(TypedData, FloatsKeepTheirBitsInEveryForm) {
  constexpr std::uint32_t field = tensor_field::float_data;
  const auto& bits = awkward_floats;
  const Message unpacked =
      Message().fixed32(field, bits[0]).fixed32(field, bits[1]).fixed32(field, bits[2]).fixed32(field, bits[3]);
  const Message split =
      Message().packed_fixed32(field, {bits[0]}).fixed32(field, bits[1]).packed_fixed32(field, {bits[2], bits[3]});
  const Blob expected = little_endian({bits.begin(), bits.end()}, 4);
  for (const auto& [type, values] : {std::pair(dtype::float32, 1), {dtype::complex64, 2}}) {
    expect_bits_kept(type, values, expected, {Message().packed_fixed32(field, bits), unpacked, split});
  }
}

TEST(TypedData, DoublesKeepTheirBitsInEveryForm) {
  constexpr std::uint32_t field = tensor_field::double_data;
  const auto& bits = awkward_doubles;
  const Message unpacked =
      Message().fixed64(field, bits[0]).fixed64(field, bits[1]).fixed64(field, bits[2]).fixed64(field, bits[3]);
  const Message split = Message().packed_fixed64(field, {bits[0], bits[1]}).packed_fixed64(field, {bits[2], bits[3]});
  Values values;
  for (const std::uint64_t each : bits) values.push_back(std::bit_cast<std::int64_t>(each));
  for (const auto& [type, per_element] : {std::pair(dtype::float64, 1), {dtype::complex128, 2}}) {
    expect_bits_kept(type, per_element, little_endian(values, 8),
                     {Message().packed_fixed64(field, bits), unpacked, split});
  }
}

TEST(TypedData, ReturnsOnePackedRunOfFloatsInPlace) {
  const Blob model =
      typed(dtype::float32, {4}, Message().packed_fixed32(tensor_field::float_data, awkward_floats)).take();
  const auto source = onnx::typed_data_source(model, onnx::read_tensor(model, {0, model.size()}));
  ASSERT_NE(source, nullptr);
  std::size_t pieces = 0;
  source->read([&](Bytes piece) {
    ++pieces;
    EXPECT_GE(piece.data(), model.data());
    EXPECT_LT(piece.data(), model.data() + model.size());
    EXPECT_EQ(piece.size(), 16U);
  });
  EXPECT_EQ(pieces, 1U);
}

TEST(TypedData, ARunWithAPartOfAValueIsNotConverted) {
  const Message torn = Message().bytes(tensor_field::float_data, Blob(7)).bytes(tensor_field::float_data, Blob(1));
  EXPECT_EQ(converted(typed(dtype::float32, {2}, torn)), std::nullopt);
  EXPECT_EQ(converted(typed(dtype::float64, {1}, Message().bytes(tensor_field::double_data, Blob(9)))), std::nullopt);
  EXPECT_EQ(converted(tensor("w", dtype::complex64, {1}).float_data({1, 2, 3})), std::nullopt);
}

TEST(TypedData, TwoTypedFieldsContradictEachOther) {
  const Message floats = Message().packed_fixed32(tensor_field::float_data, {1});
  for (const Message& other :
       {Message().packed_varints(tensor_field::int32_data, {1}), Message().varint(tensor_field::int64_data, 1),
        Message().fixed64(tensor_field::double_data, 1), Message().packed_varints(tensor_field::uint64_data, {1}),
        Message().string(tensor_field::string_data, "s")}) {
    EXPECT_EQ(converted(typed(dtype::float32, {1}, Message().raw(floats).raw(other))), std::nullopt);
  }
  const Message empty_run = Message().packed_varints(tensor_field::int32_data, {});
  EXPECT_NE(converted(typed(dtype::float32, {1}, Message().raw(floats).raw(empty_run))), std::nullopt);
}

TEST(TypedData, TakesNoRunBesideAnotherTypedField) {
  const Message floats = Message().packed_fixed32(tensor_field::float_data, {1});
  const auto has_run = [](const Message& data) {
    const Blob model = typed(dtype::float32, {1}, data).take();
    return onnx::raw_run_of(model, onnx::read_tensor(model, {0, model.size()})).has_value();
  };
  EXPECT_TRUE(has_run(floats));
  EXPECT_FALSE(has_run(Message(floats).packed_varints(tensor_field::int32_data, {1})));
}

TEST(TypedData, EmptyStringContradictsNumbers) {
  const Message data = Message().packed_fixed32(tensor_field::float_data, {1}).string(tensor_field::string_data, "");
  EXPECT_EQ(converted(typed(dtype::float32, {1}, data)), std::nullopt);
}

TEST(TypedData, TheFieldOfAnotherTypeIsNotConverted) {
  EXPECT_EQ(converted(typed(dtype::float64, {1}, Message().packed_fixed32(tensor_field::float_data, {1, 2}))),
            std::nullopt);
  EXPECT_EQ(converted(typed(dtype::int64, {1}, Message().varint(tensor_field::int32_data, 1))), std::nullopt);
  EXPECT_EQ(converted(typed(dtype::int32, {1}, Message().varint(tensor_field::int64_data, 1))), std::nullopt);
}

TEST(TypedData, AnotherWireTypeIsNotConverted) {
  for (const std::int64_t count : {1, 2}) {
    EXPECT_EQ(converted(typed(dtype::float32, {count}, Message().fixed64(tensor_field::float_data, 1))), std::nullopt);
  }
  EXPECT_EQ(converted(typed(dtype::int32, {1}, Message().fixed32(tensor_field::int32_data, 1))), std::nullopt);
}

TEST(TypedData, TypesWithoutATypedFieldAreNotConverted) {
  for (const std::uint64_t type : {dtype::undefined, dtype::string, std::uint64_t{99}}) {
    EXPECT_EQ(converted(typed(type, {1}, Message().varint(tensor_field::int32_data, 1))), std::nullopt) << type;
    EXPECT_EQ(converted(typed(type, {0}, {})), std::nullopt) << type;
  }
  EXPECT_EQ(converted(tensor("w", dtype::string, {1}).string_data({"x"})), std::nullopt);
}

TEST(TypedData, NoElementsBecomeNoBytes) {
  EXPECT_EQ(converted(typed(dtype::float32, {0}, {})), Blob());
  EXPECT_EQ(converted(typed(dtype::int32, {0, 5}, Message().packed_varints(tensor_field::int32_data, {}))), Blob());
  EXPECT_EQ(converted(typed(dtype::float32, {1}, {})), std::nullopt);
}

TEST(TypedData, ManyValuesComeInPieces) {
  Values values;
  for (std::int64_t i = 0; i < 300000; ++i) values.push_back(i * 7919 % 4294967296LL - 2147483648LL);
  const Message data = varints(tensor_field::int32_data, values, Repeated::packed);
  EXPECT_EQ(converted(typed(dtype::int32, {300000}, data)), little_endian(values, 4));
  const Blob model = typed(dtype::int32, {300000}, data).take();
  std::vector<std::size_t> pieces;
  onnx::typed_data_source(model, onnx::read_tensor(model, {0, model.size()}))->read([&](Bytes piece) {
    pieces.push_back(piece.size());
  });
  EXPECT_EQ(pieces, (std::vector<std::size_t>{1'048'576, 151'424}));
}

// The vectors of spec/vectors have runs that end in the middle of a number.
TEST(TypedData, ProvingLetsWholeNumbersAndStringsPass) {
  for (const auto& [field, run] : {std::pair(tensor_field::double_data, std::string(16, '\xff')),
                                   std::pair(tensor_field::string_data, std::string("\x80"))}) {
    const Blob model = Message().string(field, run).take();
    onnx::TensorView tensor;
    tensor.range = {0, model.size()};
    EXPECT_EQ(code_of([&] { onnx::prove_typed_data(model, tensor); }), std::nullopt) << field;
  }
}

TEST(TypedData, ARunThatEndsInTheMiddleOfANumberIsRefused) {
  const Blob cut = {std::byte{1}, std::byte{0x80}};
  const Message broken = typed(dtype::int32, {2}, Message().bytes(tensor_field::int32_data, cut));
  expect_error(error_of([&broken] { converted(broken); }),
               {.code = Code::wire_truncated, .offset = broken.str().find(text_of(cut)) + 1});
}

}  // namespace
}  // namespace onnxar::testing
