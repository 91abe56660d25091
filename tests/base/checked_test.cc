// Arithmetic that does not wrap.
#include "base/checked.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "support/refusal.h"

namespace onnxar::testing {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(Checked, SumsEndAtTheLargestNumber) {
  EXPECT_EQ(base::checked_add(1, 2), 3U);
  EXPECT_EQ(base::checked_add(largest, 0), largest);
  EXPECT_EQ(base::checked_add(largest - 30, 30), largest);
  EXPECT_FALSE(base::checked_add(largest, 1));
  EXPECT_FALSE(base::checked_add(1ULL << 63U, 1ULL << 63U));
}

TEST(Checked, ProductsEndAtTheLargestNumber) {
  EXPECT_EQ(base::checked_multiply(6, 7), 42U);
  EXPECT_EQ(base::checked_multiply(largest, 1), largest);
  EXPECT_EQ(base::checked_multiply(largest, 0), 0U);
  EXPECT_FALSE(base::checked_multiply(1ULL << 32U, 1ULL << 32U));
  EXPECT_FALSE(base::checked_multiply(largest, 2));
}

TEST(Checked, SizesInMemoryAreNotCut) {
  EXPECT_EQ(base::in_memory(base::most_in_memory), base::most_in_memory);
  constexpr std::uint64_t beyond_32_bits = (1ULL << 32U) + 3;  // 3, if it were cut
  if constexpr (sizeof(std::size_t) == sizeof(std::uint64_t)) {
    EXPECT_EQ(base::in_memory(beyond_32_bits), beyond_32_bits);
  } else {
    for (const std::uint64_t size : {base::most_in_memory + 1, beyond_32_bits, largest}) {
      EXPECT_EQ(code_of([&] { return base::in_memory(size); }), Code::io_address_space) << size;
    }
  }
}

TEST(Checked, ASignedNumberIsNothingOnceItDidNotFit) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  using base::CheckedInt;
  EXPECT_EQ((CheckedInt(most) + -1 - 5 * CheckedInt(-2)).value(), std::nullopt);
  EXPECT_EQ((CheckedInt(most) - 9).value(), most - 9);
  EXPECT_EQ((CheckedInt(most) + 1 - 1).value(), std::nullopt) << "it does not come back";
  EXPECT_EQ((CheckedInt(least) - 1).value(), std::nullopt);
  EXPECT_EQ((CheckedInt(least) * -1).value(), std::nullopt);
  EXPECT_EQ((CheckedInt(-3) * 4).value(), -12);
  EXPECT_EQ((CheckedInt(most) * 2).value_or(7), 7);
}

TEST(Checked, AlignedNumbersStay) {
  for (std::uint64_t alignment = 1; alignment <= 4096; alignment *= 2) {
    for (std::uint64_t value = 0; value < 3 * alignment && value < 9000; ++value) {
      std::uint64_t expected = value;
      while (expected % alignment != 0) ++expected;
      ASSERT_EQ(base::align_up(value, alignment), expected);
      if (alignment > 256) value += 63;
    }
  }
}

}  // namespace
}  // namespace onnxar::testing
