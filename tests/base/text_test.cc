#include "base/text.h"

#include <gtest/gtest.h>

namespace onnxar::testing {
namespace {

TEST(Characters, OfIdentifiersAreLettersDigitsAndTheUnderscoreOfAscii) {
  const std::string_view all = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
  std::string found;
  for (int c = 0; c < 256; ++c) {
    if (base::is_identifier_character(static_cast<char>(c))) found += static_cast<char>(c);
  }
  EXPECT_EQ(found, all);
}

TEST(PlainDecimal, IsDigitsWithoutNeedlessZeros) {
  EXPECT_EQ(base::plain_decimal("0"), 0U);
  EXPECT_EQ(base::plain_decimal("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text : {"", "00", "01", "+1", "-1", " 1", "1 ", "1.0", "0x1", "x", "18446744073709551616"}) {
    EXPECT_EQ(base::plain_decimal(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace onnxar::testing
