// Patterns for names; glob_posix_test.cc compares them with those of the C library.
#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace onnxar::testing {
namespace {

bool matches(std::string_view pattern, std::string_view text) { return base::Glob(pattern).matches(text); }

TEST(Glob, ClassesAndEscapesAreKnown) {
  EXPECT_TRUE(matches("layer.[[:digit:]].w", "layer.7.w"));
  EXPECT_FALSE(matches("layer.[![:digit:]].w", "layer.7.w"));
  EXPECT_TRUE(matches("\\*", "*"));
  EXPECT_FALSE(matches("\\*", "a"));
  EXPECT_TRUE(matches("[\\]]", "]"));
}

TEST(Glob, ABracketThatIsNeverClosedIsAPlainCharacter) {
  EXPECT_TRUE(matches("[", "["));
  EXPECT_TRUE(matches("[]", "[]"));
  EXPECT_TRUE(matches("[!", "[!"));
  EXPECT_TRUE(matches("a[b*", "a[bcd"));
  EXPECT_TRUE(matches("[\\]", "[]"));
  EXPECT_TRUE(matches("[[:digit:]", "[:"));  // the set of the characters of ":digit:"
  EXPECT_FALSE(matches("[[:digit:]", "7"));
  EXPECT_TRUE(matches("[a-", "[a-"));
}

// When each of these brackets searched the pattern for its end, once for every byte of the name, this took hours.
TEST(Glob, ManyBracketsThatAreNeverClosedTakeNoMoreThanTheProductOfTheLengths) {
  const std::string brackets(1'000, '[');
  EXPECT_FALSE(matches("*" + brackets + "x", std::string(20'000, '[')));
  EXPECT_TRUE(matches("*" + brackets, std::string(20'000, '[')));
  std::string escaped;
  for (int i = 0; i < 1'000; ++i) escaped += "[\\]";
  EXPECT_FALSE(matches("*" + escaped + "x", std::string(20'000, '[')));
}

TEST(Glob, ManyStarsTakeNoMoreThanTheProductOfTheLengths) {
  // The C library's takes 20 000 to the power of the number of stars: it would not return.
  std::string pattern;
  for (int i = 0; i < 20; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + "b", std::string(20'000, 'a')));
  EXPECT_TRUE(matches(pattern, std::string(20'000, 'a')));
}

}  // namespace
}  // namespace onnxar::testing
