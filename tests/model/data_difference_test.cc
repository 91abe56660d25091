// The comparison of numbers, whose values are worked out by hand.
#include "model/data_difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

template <typename T>
Blob raw(const std::vector<T>& values) {
  return little_endian_bytes<T>(values);
}

/// Both have `count` elements.
std::optional<DataDifference> compared(std::uint64_t type, std::uint64_t count, const Blob& before, const Blob& after) {
  return compare_data(before, after, static_cast<DataType>(type), count);
}
DataDifference numbers(std::uint64_t type, std::uint64_t count, const Blob& before, const Blob& after) {
  return compared(type, count, before, after).value();
}

/// The distance of a value of 8 bits from that of `first`.
double distance_from(std::uint8_t first, std::uint64_t type, std::uint8_t bits) {
  return numbers(type, 1, raw<std::uint8_t>({first}), raw<std::uint8_t>({bits})).max_absolute.value();
}

TEST(DataDifference, FloatsWithTheirMaxima) {
  const DataDifference data = numbers(dtype::float32, 4, raw<float>({1, 2, 1000, 3}), raw<float>({1, 2.5, 1001, 3}));
  EXPECT_EQ(data.differing, 2U);
  EXPECT_EQ(data.first, 1U);
  EXPECT_EQ(data.max_absolute, 1.0);
  EXPECT_EQ(data.max_relative, 0.2);
  EXPECT_EQ(data.not_finite, 0U);
}

TEST(DataDifference, InfinitiesAndNansAreCountedApart) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const DataDifference data =
      numbers(dtype::float32, 4, raw<float>({inf, 1, std::nanf(""), 0}), raw<float>({1, 2, 1, -0.0F}));
  EXPECT_EQ(data.differing, 4U);
  EXPECT_EQ(data.not_finite, 2U);
  EXPECT_EQ(data.max_absolute, 1.0);
  EXPECT_EQ(data.max_relative, 0.5);
}

TEST(DataDifference, IntegersDoNotOverflow) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(
      numbers(dtype::int64, 1, raw<std::int64_t>({Limits::min()}), raw<std::int64_t>({Limits::max()})).max_absolute,
      0x1p64);
  EXPECT_EQ(
      numbers(dtype::int64, 1, raw<std::int64_t>({Limits::max()}), raw<std::int64_t>({Limits::max() - 1})).max_absolute,
      1.0);
  EXPECT_EQ(numbers(dtype::int8, 1, raw<std::int8_t>({-128}), raw<std::int8_t>({127})).max_absolute, 255.0);
  EXPECT_EQ(numbers(dtype::uint16, 1, raw<std::uint16_t>({0}), raw<std::uint16_t>({65535})).max_absolute, 65535.0);
}

TEST(DataDifference, ComplexNumbersByTheirMagnitude) {
  EXPECT_EQ(numbers(dtype::complex64, 2, raw<float>({0, 0, 1, 1}), raw<float>({3, 4, 1, 1})).max_absolute, 5.0);
  EXPECT_EQ(numbers(dtype::complex128, 1, raw<double>({0, 0}), raw<double>({3, 4})).max_absolute, 5.0);
}

TEST(DataDifference, FiniteNumbersHaveFiniteMaxima) {
  constexpr double most = std::numeric_limits<double>::max();
  const DataDifference opposite = numbers(dtype::float64, 1, raw<double>({most}), raw<double>({-most}));
  EXPECT_EQ(opposite.max_absolute, most);
  EXPECT_EQ(opposite.max_relative, 2.0);
  // The magnitude of these complex numbers is beyond the range.
  const DataDifference pair = numbers(dtype::complex128, 1, raw<double>({most, most}), raw<double>({most, -most}));
  EXPECT_EQ(pair.max_absolute, most);
  EXPECT_DOUBLE_EQ(pair.max_relative.value(), std::sqrt(2.0));
  EXPECT_EQ(pair.not_finite, 0U);
  // Nothing is scaled without need: a quarter of these would be 0.
  constexpr double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(numbers(dtype::float64, 1, raw<double>({least}), raw<double>({2 * least})).max_relative, 0.5);
}

TEST(DataDifference, HalfPrecision) {
  const auto half = [](std::uint64_t type, std::uint16_t bits) {
    return numbers(type, 1, raw<std::uint16_t>({0}), raw<std::uint16_t>({bits})).max_absolute;
  };
  EXPECT_EQ(half(dtype::float16, 0x3c00), 1.0);
  EXPECT_EQ(half(dtype::float16, 0x7bff), 65504.0);
  EXPECT_EQ(half(dtype::float16, 0x0001), 0x1p-24);
  EXPECT_EQ(half(dtype::bfloat16, 0x3fc0), 1.5);
  EXPECT_EQ(half(dtype::bfloat16, 0x0001), 0x1p-133);
  EXPECT_EQ(numbers(dtype::float16, 1, raw<std::uint16_t>({0}), raw<std::uint16_t>({0x7c00})).not_finite, 1U);
}

TEST(DataDifference, EightBitFloatsFollowTheirStandards) {
  EXPECT_EQ(distance_from(0, dtype::float8e4m3fn, 0x7e), 448.0);
  EXPECT_EQ(distance_from(0, dtype::float8e4m3fn, 0x01), 0x1p-9);
  EXPECT_EQ(distance_from(0, dtype::float8e4m3fnuz, 0x7f), 240.0);
  EXPECT_EQ(distance_from(0, dtype::float8e5m2, 0x7b), 57344.0);
  EXPECT_EQ(distance_from(0, dtype::float8e5m2fnuz, 0x7f), 57344.0);
  EXPECT_EQ(distance_from(127, dtype::float8e8m0, 130), 7.0);
  for (const auto& [type, nan] : {std::pair(dtype::float8e4m3fn, 0xff), std::pair(dtype::float8e4m3fnuz, 0x80),
                                  std::pair(dtype::float8e5m2, 0x7d), std::pair(dtype::float8e5m2fnuz, 0x80),
                                  std::pair(dtype::float8e8m0, 0xff)}) {
    const Blob bits = raw<std::uint8_t>({static_cast<std::uint8_t>(nan)});
    EXPECT_EQ(numbers(type, 1, raw<std::uint8_t>({1}), bits).not_finite, 1U) << type;
  }
}

TEST(DataDifference, PackedElementsAndTheirPadding) {
  // The first element is in the lowest bits; the third byte holds one element and padding.
  const DataDifference data =
      numbers(dtype::int4, 5, raw<std::uint8_t>({0x17, 0x00, 0x00}), raw<std::uint8_t>({0x18, 0x00, 0xf0}));
  EXPECT_EQ(data.elements, 5U);
  EXPECT_EQ(data.differing, 1U);
  EXPECT_EQ(data.first, 0U);
  EXPECT_EQ(data.max_absolute, 15.0);  // 7 and -8
  EXPECT_EQ(numbers(dtype::uint4, 2, raw<std::uint8_t>({0x00}), raw<std::uint8_t>({0xf0})).first, 1U);
  EXPECT_EQ(numbers(dtype::float4e2m1, 1, raw<std::uint8_t>({0x0}), raw<std::uint8_t>({0x7})).max_absolute, 6.0);
  EXPECT_EQ(numbers(dtype::int2, 4, raw<std::uint8_t>({0x00}), raw<std::uint8_t>({0x80})).first, 3U);
  EXPECT_FALSE(compared(dtype::uint4, 1, raw<std::uint8_t>({0x01}), raw<std::uint8_t>({0xf1})));
}

TEST(DataDifference, SixBitsCrossBytes) {
  // 7.5 and 28 are the largest values; the third element is in the second and third byte.
  const Blob zeros(3, std::byte{0});
  EXPECT_EQ(numbers(dtype::float6e2m3, 1, zeros, raw<std::uint8_t>({0x1f, 0, 0})).max_absolute, 7.5);
  EXPECT_EQ(numbers(dtype::float6e3m2, 1, zeros, raw<std::uint8_t>({0x1f, 0, 0})).max_absolute, 28.0);
  EXPECT_EQ(numbers(dtype::float6e2m3, 1, zeros, raw<std::uint8_t>({0x01, 0, 0})).max_absolute, 0.125);
  EXPECT_EQ(numbers(dtype::float6e3m2, 1, zeros, raw<std::uint8_t>({0x01, 0, 0})).max_absolute, 0.0625);
  const DataDifference third = numbers(dtype::float6e2m3, 4, zeros, raw<std::uint8_t>({0x00, 0xf0, 0x01}));
  EXPECT_EQ(third.first, 2U);
  EXPECT_EQ(third.differing, 1U);
  EXPECT_EQ(third.max_absolute, 7.5);
  // In a later piece of the comparison, which has whole elements.
  const Blob large(150'000, std::byte{0});
  Blob changed = large;
  changed.back() = std::byte{0x7c};
  EXPECT_EQ(numbers(dtype::float6e2m3, 200'000, large, changed).first, 199'999U);
}

}  // namespace
}  // namespace onnxar::testing
