// Values of narrow floating point types, against values that their definitions state.
#include "onnx/narrow_floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace onnxar::testing {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

struct NarrowValue {
  DataType type;
  std::uint32_t bits;
  float value;
};

TEST(NarrowFloats, StatedValuesAreExact) {
  using enum DataType;
  for (const auto& [type, bits, value] : {
           NarrowValue{float16, 0x3c00, 1.0F},          NarrowValue{float16, 0x7bff, 65504.0F},
           NarrowValue{float16, 0x0001, 0x1p-24F},      NarrowValue{float16, 0xfc00, -infinite},
           NarrowValue{bfloat16, 0x3f80, 1.0F},         NarrowValue{bfloat16, 0x7f7f, 0x1.fep127F},
           NarrowValue{bfloat16, 0x0001, 0x1p-133F},    NarrowValue{bfloat16, 0x7f80, infinite},
           NarrowValue{float8e4m3fn, 0x7e, 448.0F},     NarrowValue{float8e4m3fn, 0x01, 0x1p-9F},
           NarrowValue{float8e4m3fnuz, 0x7f, 240.0F},   NarrowValue{float8e4m3fnuz, 0x01, 0x1p-10F},
           NarrowValue{float8e5m2, 0x7b, 57344.0F},     NarrowValue{float8e5m2, 0x7c, infinite},
           NarrowValue{float8e5m2fnuz, 0x7f, 57344.0F}, NarrowValue{float8e5m2fnuz, 0x01, 0x1p-17F},
           NarrowValue{float4e2m1, 0x7, 6.0F},          NarrowValue{float4e2m1, 0x1, 0.5F},
           NarrowValue{float4e2m1, 0xf, -6.0F},         NarrowValue{float8e8m0, 0x7f, 1.0F},
           NarrowValue{float8e8m0, 0xfe, 0x1p127F},     NarrowValue{float8e8m0, 0x00, 0x1p-127F},
       }) {
    EXPECT_EQ(onnx::values_of_narrow_float(type).at(bits), value) << to_string(type) << " " << bits;
  }
}

TEST(NarrowFloats, NansAreThePatternsThatTheTypeNames) {
  using enum DataType;
  const std::pair<DataType, std::size_t> counts[] = {{float16, 2046},     {bfloat16, 254},     {float8e5m2, 6},
                                                     {float8e4m3fn, 2},   {float8e4m3fnuz, 1}, {float8e8m0, 1},
                                                     {float8e5m2fnuz, 1}, {float4e2m1, 0}};
  for (const auto& [type, count] : counts) {
    std::size_t nans = 0;
    for (const float value : onnx::values_of_narrow_float(type)) nans += std::isnan(value) ? 1U : 0U;
    EXPECT_EQ(nans, count) << to_string(type);
  }
}

TEST(NarrowFloats, EachPatternHasAValue) {
  EXPECT_EQ(onnx::values_of_narrow_float(DataType::float16).size(), 65536U);
  EXPECT_EQ(onnx::values_of_narrow_float(DataType::float8e4m3fn).size(), 256U);
  EXPECT_EQ(onnx::values_of_narrow_float(DataType::float8e8m0).size(), 256U);
  EXPECT_EQ(onnx::values_of_narrow_float(DataType::float4e2m1).size(), 16U);
  EXPECT_TRUE(onnx::values_of_narrow_float(DataType::float32).empty());
  EXPECT_TRUE(onnx::values_of_narrow_float(DataType::int8).empty());
}

}  // namespace
}  // namespace onnxar::testing
