// What stored results depend on: variables, processors.
#include "os/machine.h"

#include <gtest/gtest.h>

namespace onnxar::testing {
namespace {

TEST(Processors, AreTheirNamesAndFeaturesEachOnce) {
  const std::string two = "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: sse avx2\ncpu MHz : 1\n\n";
  EXPECT_EQ(os::processors_in(two + two), "flags\t\t: sse avx2\nmodel name\t: Some CPU\n");
  EXPECT_EQ(os::processors_in("Features\t: asimd\nCPU part\t: 0xd0c\n"), "CPU part\t: 0xd0c\nFeatures\t: asimd\n");
}

TEST(Processors, AreNotKnownWithoutFeatures) {
  EXPECT_EQ(os::processors_in("isa\t: rv64imafdc\n"), "");
  EXPECT_EQ(os::processors_in("model\t: power\n"), "");
  EXPECT_EQ(os::processors_in(""), "");
}

TEST(Machine, IsTheSameAtEveryCall) {
  EXPECT_FALSE(os::machine().empty());
  EXPECT_EQ(os::machine(), os::machine());
  EXPECT_EQ(os::boot(), os::boot());
}

}  // namespace
}  // namespace onnxar::testing
