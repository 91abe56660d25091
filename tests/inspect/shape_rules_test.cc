// Parameters of rules for shapes: axes that count from the end, and sizes that are numbers.
#include "inspect/shape_rules.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace onnxar::testing {
namespace {

TEST(AxisPlace, CountsFromBothEnds) {
  EXPECT_EQ(shape_rules::place(0, 3), std::size_t{0});
  EXPECT_EQ(shape_rules::place(2, 3), std::size_t{2});
  EXPECT_EQ(shape_rules::place(-1, 3), std::size_t{2});
  EXPECT_EQ(shape_rules::place(-3, 3), std::size_t{0});
  for (const std::int64_t axis : {std::int64_t{3}, std::int64_t{-4}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(shape_rules::place(axis, 3), std::nullopt) << axis;
  }
  EXPECT_EQ(shape_rules::place(0, 0), std::nullopt);
}

TEST(NumbersOf, OneUnknownSizeMakesNone) {
  using shape_rules::Integers, shape_rules::Sizes;
  EXPECT_EQ(shape_rules::numbers_of(Sizes{2, -1}), (Integers{2, -1}));
  EXPECT_EQ(shape_rules::numbers_of(Sizes{2, Size()}), std::nullopt);
  EXPECT_EQ(shape_rules::numbers_of(std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace onnxar::testing
