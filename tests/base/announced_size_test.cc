// Sums of announced sizes end at a limit and never wrap.
#include "base/announced_size.h"

#include <gtest/gtest.h>

#include <utility>

#include "support/refusal.h"

namespace onnxar::base {
namespace {

using onnxar::testing::ErrorContext;
using onnxar::testing::refusal_of;

TEST(AnnouncedSize, SumUpToTheLimitIsReturned) {
  EXPECT_EQ(add_announced(0, 0), 0U);
  EXPECT_EQ(add_announced(1, largest_planned - 1), largest_planned);
  EXPECT_EQ(add_announced(largest_planned, 0), largest_planned);
}

TEST(AnnouncedSize, SumOverTheLimitIsRefusedAtThePlace) {
  constexpr std::uint64_t half = 1ULL << 63U;
  for (const auto& [total, size] : {std::pair(largest_planned, std::uint64_t{1}), std::pair(half, half),
                                    std::pair(std::uint64_t{1}, ~std::uint64_t{0})}) {
    EXPECT_EQ(refusal_of([&total, &size] { return add_announced(total, size, {"w", 7}); }),
              (ErrorContext{Code::usage_argument, "w", 7}));
  }
}

}  // namespace
}  // namespace onnxar::base
