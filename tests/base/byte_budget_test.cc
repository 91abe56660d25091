// Budgets of bytes, which are a multiple of an input.
#include "base/byte_budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace onnxar::testing {
namespace {

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

}  // namespace
}  // namespace onnxar::testing
