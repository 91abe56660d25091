// The budget of steps: what is granted does not depend on the order of requests.
#include "inspect/budget.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace onnxar::testing {
namespace {

TEST(Budget, GrantsUpToItsLastStep) {
  Budget budget(10);
  EXPECT_TRUE(budget.spend(4));
  EXPECT_TRUE(budget.spend(6));
  EXPECT_FALSE(budget.is_spent());
  EXPECT_TRUE(budget.spend(0));
  EXPECT_FALSE(budget.spend(1));
  EXPECT_TRUE(budget.is_spent());
  EXPECT_EQ(budget.taken(), 10U);
}

TEST(Budget, RefusedRequestEndsAllLaterOnes) {
  Budget budget(10);
  EXPECT_FALSE(budget.spend(UINT64_MAX));
  EXPECT_FALSE(budget.spend(1));
  EXPECT_FALSE(budget.spend(0));
  EXPECT_EQ(budget.taken(), 0U);
}

TEST(Budget, GrowsWithTheModel) {
  Budget budget = Budget::for_model(2, 5);
  EXPECT_TRUE(budget.spend(2 * Budget::steps_per_byte + 5));
  EXPECT_FALSE(budget.spend(1));
  EXPECT_EQ(Budget::of_name(0), 1U);
  EXPECT_EQ(Budget::of_name(16), 3U);
}

}  // namespace
}  // namespace onnxar::testing
