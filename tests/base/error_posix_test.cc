// Names of files that are no UTF-8: POSIX systems have them.
#include <gtest/gtest.h>

#include "onnxar/error.h"

namespace onnxar::testing {
namespace {

TEST(EscapedPath, BytesThatAreNoUtf8AreWrittenInHex) { EXPECT_EQ(escaped_path("\xff"), "\\xff"); }

TEST(EscapedPath, ABackslashIsALetterOfANameAndIsDoubled) { EXPECT_EQ(escaped_path("a\\x1b"), "a\\\\x1b"); }

}  // namespace
}  // namespace onnxar::testing
