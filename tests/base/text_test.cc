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

}  // namespace
}  // namespace onnxar::testing
