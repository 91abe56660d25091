// Patterns for names, compared with those of the C library.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "base/glob.h"

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
    const std::string pattern = random_text(random, "ab*?[]!-_/", 7);
    const std::string text = random_text(random, "ab-]_/", 6);
    EXPECT_EQ(base::Glob(pattern).matches(text), ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0)
        << pattern << " " << text;
  }
}

}  // namespace
}  // namespace onnxar::testing
