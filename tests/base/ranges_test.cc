// Ranges that are stated by offset and length stay within their file or entry.
#include "base/ranges.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace onnxar::testing {
namespace {

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
