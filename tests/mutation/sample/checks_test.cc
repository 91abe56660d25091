// Tests the sample that shows how mutants are killed.
#include "checks.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace sample {

TEST(Checks, SizesUpToTheLimitFit) {
  EXPECT_TRUE(fits(10));
  EXPECT_FALSE(fits(11));
}

TEST(Checks, LargerSizesThrow) {
  EXPECT_EQ(checked(4), 4U);
  EXPECT_EQ(checked(5), 10U);
  EXPECT_THROW(checked(11), std::length_error);
}

TEST(Checks, TheLargerOfTwo) {
  EXPECT_EQ(larger(1, 2), 2U);
  EXPECT_EQ(larger(2, 1), 2U);
  EXPECT_EQ(larger(2, 2), 2U);
}

TEST(Checks, OnlyTheUpperEndIsTested) {
  EXPECT_TRUE(between(1, 3, 3));
  EXPECT_FALSE(between(1, 4, 3));
}

}  // namespace sample
