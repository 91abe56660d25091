// Tests the arithmetic of sizes.
#include "inspect/size.h"

#include <gtest/gtest.h>

#include <limits>

namespace onnxar::testing {
namespace {

const Size in_n = Size::of_variable(0);
const Size in_m = Size::of_variable(1);

TEST(Sizes, NumbersAreAddedMultipliedAndDividedAsNumbers) {
  EXPECT_EQ(Size(7) + 5, 12);
  EXPECT_EQ(Size(7) - 12, -5);
  EXPECT_EQ(Size(7) * 5, 35);
  EXPECT_EQ(Size(35).divided_exactly(5), 7);
  EXPECT_FALSE(Size(36).divided_exactly(5).is_known());
  EXPECT_EQ(Size(36).divided_down(5), 7);
  EXPECT_EQ(Size(-36).divided_down(5), -8);
}

TEST(Sizes, UnknownOperandsAndOverflowAreUnknown) {
  const Size most = std::numeric_limits<std::int64_t>::max();
  for (const Size& size : {Size() + 1, 1 - Size(), Size() * 0, in_n + Size(), most + 1, most * 2, in_n * most * 2,
                           Size().divided_exactly(2), Size(2).divided_exactly(0), Size(2).divided_exactly(-1)}) {
    EXPECT_FALSE(size.is_known());
  }
}

TEST(Sizes, APolynomialThatIsConstantIsANumber) {
  EXPECT_EQ((in_n + 3 - in_n).number(), 3);
  EXPECT_EQ((in_n * 0).number(), 0);
  EXPECT_EQ((in_n * in_m).divided_exactly(in_m * in_n).number(), 1);
  EXPECT_FALSE((in_n + 3).number().has_value());
}

TEST(Sizes, EqualPolynomialsAreEqualInEveryForm) {
  EXPECT_EQ((in_n + in_m) * 2, in_m * 2 + in_n + in_n);
  EXPECT_FALSE(in_n == in_m);
  EXPECT_FALSE(in_n == 1);
  EXPECT_FALSE(in_n == Size());
}

TEST(Sizes, RoundsDownIfOnlyTheConstantHasARemainder) {
  EXPECT_EQ((in_n * 4 + 7).divided_down(4), in_n + 1);
  EXPECT_EQ((in_n * 4 - 1).divided_down(4), in_n - 1);
  EXPECT_FALSE((in_n * 2).divided_down(4).is_known());
  EXPECT_EQ((in_n * in_m * 6).divided_exactly(in_m * 2), in_n * 3);
}

TEST(Sizes, PolynomialsOfTooManyTermsAreUnknown) {
  Size sum = 0;
  for (std::uint32_t i = 0; i < Size::most_terms; ++i) sum = sum + Size::of_variable(i);
  EXPECT_TRUE(sum.is_known());
  EXPECT_FALSE((sum + 1).is_known());
}

}  // namespace
}  // namespace onnxar::testing
