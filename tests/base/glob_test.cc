// Patterns for names, compared with the C library's where that is fast enough.
#include "base/glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace onnxar::testing {
namespace {

bool matches(std::string_view pattern, std::string_view text) { return base::Glob(pattern).matches(text); }

std::string random_text(std::mt19937& random, std::string_view letters, std::size_t longest) {
  std::string text(random() % (longest + 1), ' ');
  for (char& c : text) c = letters[random() % letters.size()];
  return text;
}

TEST(Glob, APatternMatchesWhatTheShellsPatternsMatch) {
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::string pattern = random_text(random, "ab*?[]!-\\./", 7);
    const std::string text = random_text(random, "ab-]./", 6);
    // Shells differ on brackets that are never closed or end in a backslash.
    if (pattern.find('[') != std::string::npos && pattern.find_first_of('\\', pattern.find('[')) != std::string::npos)
      continue;
    if (pattern.ends_with('\\')) continue;
    EXPECT_EQ(matches(pattern, text), ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0) << pattern << " " << text;
  }
}

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
