// Which fields of a TensorProto hold its data, by number and wire type.
#include "onnx/fields.h"

#include <gtest/gtest.h>

namespace onnxar::testing {
namespace {

using wire::Type;

wire::Field field_of(std::uint32_t number, Type type, std::uint64_t size, std::uint64_t value = 0) {
  wire::Field field;
  field.number = number;
  field.type = type;
  field.value = {10, 10 + size};
  field.number_value = value;
  return field;
}

TEST(TypedDataField, IsAValueOrARunOfTheTypeThatTheSchemaHas) {
  const std::pair<std::uint32_t, Type> own[] = {
      {4, Type::fixed32}, {5, Type::varint}, {7, Type::varint}, {10, Type::fixed64}, {11, Type::varint}};
  for (const auto& [number, type] : own) {
    EXPECT_TRUE(onnx::is_typed_data_field(field_of(number, type, 1))) << number;
    EXPECT_TRUE(onnx::is_typed_data_field(field_of(number, Type::length_delimited, 4))) << number;
    EXPECT_FALSE(onnx::is_typed_data_field(field_of(number, Type::length_delimited, 0))) << number;
    for (const Type other : {Type::varint, Type::fixed32, Type::fixed64}) {
      EXPECT_EQ(onnx::is_typed_data_field(field_of(number, other, 4)), other == type) << number;
    }
  }
  EXPECT_TRUE(onnx::is_typed_data_field(field_of(6, Type::length_delimited, 0)));  // an empty string is a value
  EXPECT_FALSE(onnx::is_typed_data_field(field_of(9, Type::length_delimited, 4)));
}

TEST(DataLocation, IsOneOfTwoValuesOf32Bits) {
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::varint, 1, 0)), 0U);
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::varint, 1, 1)), 1U);
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::varint, 6, (1ULL << 32U) + 1)), 1U);
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::varint, 1, 2)), std::nullopt);
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::fixed32, 4, 1)), std::nullopt);
  EXPECT_EQ(onnx::data_location_of(field_of(13, Type::varint, 1, 1)), std::nullopt);
}

TEST(MovesWithData, AreDataAndItsLocationAndNothingElse) {
  for (const std::uint32_t number : {4U, 5U, 7U, 9U, 10U, 11U, 13U}) {
    EXPECT_TRUE(onnx::moves_with_data(field_of(number, Type::length_delimited, 0))) << number;
  }
  EXPECT_TRUE(onnx::moves_with_data(field_of(14, Type::varint, 1, 1)));
  EXPECT_TRUE(onnx::moves_with_data(field_of(5, Type::varint, 1, 1)));
  EXPECT_FALSE(onnx::moves_with_data(field_of(14, Type::varint, 1, 2)));
  EXPECT_FALSE(onnx::moves_with_data(field_of(9, Type::varint, 1)));
  for (const std::uint32_t number : {1U, 2U, 6U, 8U, 12U}) {
    EXPECT_FALSE(onnx::moves_with_data(field_of(number, Type::length_delimited, 4))) << number;
  }
}

}  // namespace
}  // namespace onnxar::testing
