// Ranges of bytes that do not wrap, and lie in their bytes.
#include "base/byte_range.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

constexpr std::uint64_t largest_value = std::numeric_limits<std::uint64_t>::max();

TEST(InRange, EqualsItsDefinitionForSmallNumbers) {
  for (std::uint64_t size = 0; size < 6; ++size) {
    for (std::uint64_t offset = 0; offset < 8; ++offset) {
      for (std::uint64_t length = 0; length < 8; ++length) {
        EXPECT_EQ(base::in_range(offset, length, size), offset + length <= size);
      }
    }
  }
}

TEST(InRange, DoesNotWrap) {
  EXPECT_FALSE(base::in_range(largest_value, 2, 100));
  EXPECT_FALSE(base::in_range(2, largest_value, 100));
  EXPECT_FALSE(base::in_range(largest_value, largest_value, 100));
  EXPECT_FALSE(base::in_range(101, largest_value - 100, 100));
  EXPECT_TRUE(base::in_range(0, largest_value, largest_value));
  EXPECT_TRUE(base::in_range(largest_value, 0, largest_value));
}

TEST(Slice, LiesInTheBytes) {
  const Blob bytes = pattern(10);
  const auto middle = base::slice(bytes, 3, 4);
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->data(), bytes.data() + 3);
  EXPECT_EQ(middle->size(), 4U);
  EXPECT_TRUE(base::slice(bytes, 10, 0));
  EXPECT_FALSE(base::slice(bytes, 10, 1));
  EXPECT_FALSE(base::slice(bytes, 11, 0));
  EXPECT_FALSE(base::slice(bytes, 1, largest_value));
}

TEST(Section, IsTheBytesFromOffsetOn) {
  const Blob bytes = pattern(10);
  EXPECT_EQ(base::section(bytes, 3, 4).data(), bytes.data() + 3);
  EXPECT_EQ(base::section(bytes, 3, 4).size(), 4U);
  EXPECT_EQ(base::section(bytes, 3).size(), 7U);
  EXPECT_TRUE(base::section(bytes, 10).empty());
}

TEST(LiesIn, IsTrueForPartsOfTheWhole) {
  const Blob bytes = pattern(10), other = pattern(10);
  const Bytes whole(bytes);
  EXPECT_TRUE(base::lies_in(whole, whole));
  EXPECT_TRUE(base::lies_in(whole.subspan(9), whole));
  EXPECT_FALSE(base::lies_in(whole.subspan(10), whole)) << "behind its last byte";
  EXPECT_FALSE(base::lies_in(other, whole));
}

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
