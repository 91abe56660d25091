// Text and paths on Windows.
#include <gtest/gtest.h>

#include "os/names.h"

namespace onnxar::os {
namespace {

TEST(Names, AreUtf8AsTextAndUtf16AsPaths) {
  EXPECT_EQ(path_of("a\xc3\xa4\xf0\x9f\x98\x80").native(), L"a\u00e4\U0001F600");
  EXPECT_EQ(text_of(path_of("a\xc3\xa4\xf0\x9f\x98\x80")), "a\xc3\xa4\xf0\x9f\x98\x80");
  EXPECT_EQ(path_of("a\xff").native(), L"a\uFFFD");
  EXPECT_EQ(slashed_text_of(LR"(a\b)"), "a/b");
}

}  // namespace
}  // namespace onnxar::os
