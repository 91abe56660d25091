// Sums of announced sizes end at a limit and never wrap.
#include <gtest/gtest.h>

#include <utility>

#include "base/exact_source.h"
#include "support/refusal.h"

namespace onnxar::base {
namespace {

using onnxar::testing::ErrorContext;
using onnxar::testing::refusal_of;

TEST(AnnouncedSize, SumUpToTheLimitIsReturned) {
  EXPECT_EQ(add_announced(0, 0), 0U);
  EXPECT_EQ(add_announced(1, largest_sum - 1), largest_sum);
  EXPECT_EQ(add_announced(largest_sum, 0), largest_sum);
}

TEST(AnnouncedSize, SumOverTheLimitIsRefusedAtThePlace) {
  constexpr std::uint64_t half = 1ULL << 63U;
  for (const auto& [total, size] : {std::pair(largest_sum, std::uint64_t{1}), std::pair(half, half),
                                    std::pair(std::uint64_t{1}, ~std::uint64_t{0})}) {
    EXPECT_EQ(refusal_of([&total, &size] { return add_announced(total, size, {"w", 7}); }),
              (ErrorContext{Code::usage_argument, "w", 7}));
  }
}

TEST(AnnouncedSize, ALowerLimitIsKept) {
  EXPECT_EQ(add_announced(60, 40, {}, 100), 100U);
  EXPECT_EQ(refusal_of([] { return add_announced(60, 41, {}, 100); }), ErrorContext{Code::usage_argument});
}

}  // namespace
}  // namespace onnxar::base
