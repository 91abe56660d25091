// Patterns for names, compared with the C library's where that is fast enough.
#include "base/glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace onnxar::testing {
namespace {

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
    EXPECT_EQ(base::matches(pattern, text), ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0) << pattern << " " << text;
  }
}

TEST(Glob, ClassesAndEscapesAreKnown) {
  EXPECT_TRUE(base::matches("layer.[[:digit:]].w", "layer.7.w"));
  EXPECT_FALSE(base::matches("layer.[![:digit:]].w", "layer.7.w"));
  EXPECT_TRUE(base::matches("\\*", "*"));
  EXPECT_FALSE(base::matches("\\*", "a"));
  EXPECT_TRUE(base::matches("[\\]]", "]"));
}

TEST(Glob, ManyStarsTakeNoMoreThanTheProductOfTheLengths) {
  // The C library's takes 20 000 to the power of the number of stars: it would not return.
  std::string pattern;
  for (int i = 0; i < 20; ++i) pattern += "*a";
  EXPECT_FALSE(base::matches(pattern + "b", std::string(20'000, 'a')));
  EXPECT_TRUE(base::matches(pattern, std::string(20'000, 'a')));
}

}  // namespace
}  // namespace onnxar::testing
