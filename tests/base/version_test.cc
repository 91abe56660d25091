// Tests the version at compile time and at run time.
#include "onnxar/version.h"

#include <gtest/gtest.h>

#include <string>

namespace onnxar::testing {
namespace {

TEST(Version, OneNumberOrdersVersions) {
  EXPECT_EQ(ONNXAR_VERSION, ONNXAR_VERSION_MAJOR * 10000 + ONNXAR_VERSION_MINOR * 100 + ONNXAR_VERSION_PATCH);
#if ONNXAR_VERSION < 100
  ADD_FAILURE() << "the preprocessor cannot compare it";
#endif
}

TEST(Version, TheLibraryReportsItsOwn) {
  EXPECT_EQ(version(), ONNXAR_VERSION);
  EXPECT_EQ(version_string(), std::string(ONNXAR_VERSION_STRING));
}

}  // namespace
}  // namespace onnxar::testing
