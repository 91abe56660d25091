// Patterns for names; glob_posix_test.cc compares them with those of the C library.
#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace onnxar::testing {
namespace {

bool matches(std::string_view pattern, std::string_view text) { return base::Glob(pattern).matches(text); }

TEST(Glob, SpecialCharactersInASetAreLiteral) {
  EXPECT_TRUE(matches("[*]", "*"));
  EXPECT_FALSE(matches("[*]", "a"));
  EXPECT_TRUE(matches("[]]", "]"));
  EXPECT_TRUE(matches("a\\b", "a\\b"));
}

TEST(Glob, ABracketThatIsNeverClosedIsAPlainCharacter) {
  for (const char* text : {"[", "[]", "[!", "[!]", "[a-"}) EXPECT_TRUE(matches(text, text)) << text;
  EXPECT_TRUE(matches("a[b*", "a[bcd"));
}

// When each of these brackets searched the pattern for its end, once for every byte of the name, this took hours.
TEST(Glob, UnclosedBracketsTakeTheProductOfTheLengths) {
  const std::string brackets(1'000, '[');
  EXPECT_FALSE(matches("*" + brackets + "x", std::string(20'000, '[')));
  EXPECT_TRUE(matches("*" + brackets, std::string(20'000, '[')));
}

TEST(Glob, ManyStarsTakeTheProductOfTheLengths) {
  // The C library's takes 20 000 to the power of the number of stars: it would not return.
  std::string pattern;
  for (int i = 0; i < 20; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + "b", std::string(20'000, 'a')));
  EXPECT_TRUE(matches(pattern, std::string(20'000, 'a')));
}

}  // namespace
}  // namespace onnxar::testing
