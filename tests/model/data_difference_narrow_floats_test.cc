// Values of narrow floating point types, against the tables of their specifications.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "model/data_difference.h"

namespace onnxar::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Value {
  std::size_t bits;
  float value;
};

void expect_values(DataType type, std::size_t patterns, const std::vector<Value>& expected) {
  const std::vector<float> values = values_of_narrow_float(type);
  ASSERT_EQ(values.size(), patterns) << to_string(type);
  for (const auto& [bits, value] : expected) {
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(values[bits])) << to_string(type) << ' ' << bits;
    } else {
      EXPECT_EQ(values[bits], value) << to_string(type) << ' ' << bits;
      EXPECT_EQ(std::signbit(values[bits]), std::signbit(value)) << to_string(type) << ' ' << bits;
    }
  }
}

TEST(NarrowFloats, IeeeTypesHaveInfinitiesAndNans) {
  expect_values(DataType::float16, 65536,
                {{0x0000, 0.0F},
                 {0x8000, -0.0F},
                 {0x0001, 0x1p-24F},
                 {0x03ff, 0x1.ff8p-15F},
                 {0x0400, 0x1p-14F},
                 {0x3c00, 1.0F},
                 {0xc000, -2.0F},
                 {0x3555, 0x1.554p-2F},
                 {0x7bff, 65504.0F},
                 {0x7c00, infinity},
                 {0xfc00, -infinity},
                 {0x7c01, not_a_number},
                 {0xfe00, not_a_number}});
  expect_values(DataType::bfloat16, 65536,
                {{0x0001, 0x1p-133F},
                 {0x0080, 0x1p-126F},
                 {0x3f80, 1.0F},
                 {0xc049, -3.140625F},
                 {0x7f7f, 0x1.fep127F},
                 {0x7f80, infinity},
                 {0xff80, -infinity},
                 {0x7f81, not_a_number}});
  expect_values(DataType::float8e5m2, 256,
                {{0x01, 0x1p-16F},
                 {0x04, 0x1p-14F},
                 {0x3c, 1.0F},
                 {0xbc, -1.0F},
                 {0x7b, 57344.0F},
                 {0x7c, infinity},
                 {0xfc, -infinity},
                 {0x7d, not_a_number},
                 {0xff, not_a_number}});
}

TEST(NarrowFloats, SingleNanReplacesMinusZeroOrHasAllBits) {
  expect_values(DataType::float8e4m3fn, 256,
                {{0x01, 0x1p-9F},
                 {0x38, 1.0F},
                 {0x78, 256.0F},
                 {0x7e, 448.0F},
                 {0xfe, -448.0F},
                 {0x80, -0.0F},
                 {0x7f, not_a_number},
                 {0xff, not_a_number}});
  expect_values(DataType::float8e4m3fnuz, 256,
                {{0x00, 0.0F}, {0x01, 0x1p-10F}, {0x40, 1.0F}, {0x7f, 240.0F}, {0xff, -240.0F}, {0x80, not_a_number}});
  expect_values(
      DataType::float8e5m2fnuz, 256,
      {{0x00, 0.0F}, {0x01, 0x1p-17F}, {0x40, 1.0F}, {0x7f, 57344.0F}, {0xff, -57344.0F}, {0x80, not_a_number}});
}

TEST(NarrowFloats, FourBitsHaveSixteenNumbers) {
  expect_values(DataType::float4e2m1, 16,
                {{0, 0.0F},
                 {1, 0.5F},
                 {2, 1.0F},
                 {3, 1.5F},
                 {4, 2.0F},
                 {5, 3.0F},
                 {6, 4.0F},
                 {7, 6.0F},
                 {8, -0.0F},
                 {9, -0.5F},
                 {15, -6.0F}});
}

TEST(NarrowFloats, ExponentsAreNumbersOfTheirOwn) {
  expect_values(DataType::float8e8m0, 256,
                {{0, 0x1p-127F}, {1, 0x1p-126F}, {127, 1.0F}, {128, 2.0F}, {254, 0x1p127F}, {255, not_a_number}});
}

TEST(NarrowFloats, OtherTypesHaveNoTable) {
  for (const DataType type :
       {DataType::float32, DataType::int8, DataType::uint4, DataType::string, DataType::undefined}) {
    EXPECT_TRUE(values_of_narrow_float(type).empty()) << to_string(type);
  }
}

}  // namespace
}  // namespace onnxar::testing
