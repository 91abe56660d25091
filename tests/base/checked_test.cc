// Arithmetic that does not wrap.
#include "base/checked.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "support/refusal.h"
#include "support/wire_builder.h"

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

TEST(Checked, RangesEqualTheirDefinitionForSmallNumbers) {
  for (std::uint64_t size = 0; size < 6; ++size) {
    for (std::uint64_t offset = 0; offset < 8; ++offset) {
      for (std::uint64_t length = 0; length < 8; ++length) {
        EXPECT_EQ(base::in_range(offset, length, size), offset + length <= size);
      }
    }
  }
}

TEST(Checked, RangesDoNotWrap) {
  EXPECT_FALSE(base::in_range(largest, 2, 100));
  EXPECT_FALSE(base::in_range(2, largest, 100));
  EXPECT_FALSE(base::in_range(largest, largest, 100));
  EXPECT_FALSE(base::in_range(101, largest - 100, 100));
  EXPECT_TRUE(base::in_range(0, largest, largest));
  EXPECT_TRUE(base::in_range(largest, 0, largest));
}

TEST(Checked, SlicesLieInTheBytes) {
  const Blob bytes = pattern(10);
  const auto middle = base::slice(bytes, 3, 4);
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->data(), bytes.data() + 3);
  EXPECT_EQ(middle->size(), 4U);
  EXPECT_TRUE(base::slice(bytes, 10, 0));
  EXPECT_FALSE(base::slice(bytes, 10, 1));
  EXPECT_FALSE(base::slice(bytes, 11, 0));
  EXPECT_FALSE(base::slice(bytes, 1, largest));
}

TEST(Checked, SectionsAreTheBytesFromOffsetOn) {
  const Blob bytes = pattern(10);
  EXPECT_EQ(base::section(bytes, 3, 4).data(), bytes.data() + 3);
  EXPECT_EQ(base::section(bytes, 3, 4).size(), 4U);
  EXPECT_EQ(base::section(bytes, 3).size(), 7U);
  EXPECT_TRUE(base::section(bytes, 10).empty());
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

TEST(Checked, PartsLieInTheWhole) {
  const Blob bytes = pattern(10), other = pattern(10);
  const Bytes whole(bytes);
  EXPECT_TRUE(base::lies_in(whole, whole));
  EXPECT_TRUE(base::lies_in(whole.subspan(9), whole));
  EXPECT_FALSE(base::lies_in(whole.subspan(10), whole)) << "behind its last byte";
  EXPECT_FALSE(base::lies_in(other, whole));
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

constexpr std::uint64_t largest_budget = std::numeric_limits<std::uint64_t>::max();

TEST(ByteBudget, AllowsAMultipleOfTheInputAndNotAByteMore) {
  base::ByteBudget budget(10, 8);
  EXPECT_EQ(budget.most(), 80U);
  EXPECT_TRUE(budget.add(79));
  EXPECT_FALSE(budget.add(2));
  EXPECT_EQ(budget.made(), 79U);  // refused bytes do not count
  EXPECT_TRUE(budget.add(1));
  EXPECT_TRUE(budget.allows(80));
  EXPECT_FALSE(budget.allows(81));
}

TEST(ByteBudget, SetsNoLimitWhereTheProductIsBeyond64Bits) {
  base::ByteBudget budget(1ULL << 40U, 1ULL << 40U);
  EXPECT_EQ(budget.most(), largest_budget);
  EXPECT_TRUE(budget.add(largest_budget));
}

TEST(ByteBudget, RefusesASumThatWraps) {
  base::ByteBudget budget(largest_budget, 1);
  EXPECT_TRUE(budget.add(2));
  EXPECT_FALSE(budget.add(largest_budget - 1));
  EXPECT_EQ(budget.made(), 2U);
}

constexpr std::uint64_t largest_value = std::numeric_limits<std::uint64_t>::max();

TEST(LengthWithin, IsTheStatedOneOrTheRest) {
  EXPECT_EQ(base::length_within(0, 12, 12), 12U);
  EXPECT_EQ(base::length_within(4, 8, 12), 8U);
  EXPECT_EQ(base::length_within(4, 0, 12), 0U);
  EXPECT_EQ(base::length_within(4, std::nullopt, 12), 8U);
  EXPECT_EQ(base::length_within(12, std::nullopt, 12), 0U);
  EXPECT_EQ(base::length_within(largest_value, 0, largest_value), 0U);
}

TEST(LengthWithin, IsNothingForARangeThatLeavesTheBytes) {
  EXPECT_EQ(base::length_within(4, 9, 12), std::nullopt);
  EXPECT_EQ(base::length_within(13, 0, 12), std::nullopt);
  EXPECT_EQ(base::length_within(13, std::nullopt, 12), std::nullopt);
  EXPECT_EQ(base::length_within(largest_value, 2, 12), std::nullopt);
  EXPECT_EQ(base::length_within(2, largest_value, 12), std::nullopt);  // their sum wraps to 1
}

TEST(RangeFault, SaysWhatLeavesWhat) {
  EXPECT_EQ(base::range_fault(8, 16, "the entry \"w\"", 12),
            "offset 8 and length 16 leave the entry \"w\" of 12 bytes");
  EXPECT_EQ(base::range_fault(13, std::nullopt, "the file", 12), "offset 13 leaves the file of 12 bytes");
}

}  // namespace
}  // namespace onnxar::testing
