// What the library says about the processor, against what the kernel says.
#include "base/processor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/emulation.h"

namespace onnxar::testing {
namespace {

/// Whether the kernel lists the feature. It leaves out those whose registers it does not save.
[[maybe_unused]] bool is_listed(const std::string& feature) {
  std::ifstream file("/proc/cpuinfo");
  if (!file) return false;
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.find(" " + feature + " ") != std::string::npos;
}

TEST(Processor, HasTheFeaturesThatTheKernelLists) {
#if defined(__x86_64__)
  if (!std::ifstream("/proc/cpuinfo")) GTEST_SKIP() << "there is no /proc/cpuinfo";
  EXPECT_EQ(base::has_carryless_multiplication(), is_listed("pclmulqdq"));
  EXPECT_EQ(base::has_carryless_multiplication_of_256(), is_listed("vpclmulqdq") && is_listed("avx2"));
  EXPECT_EQ(base::has_wide_vectors(), is_listed("avx512f"));
#elif defined(__aarch64__)
  ONNXAR_NATIVELY("show the features of the processor in /proc/cpuinfo");
  if (!std::ifstream("/proc/cpuinfo")) GTEST_SKIP() << "there is no /proc/cpuinfo";
  EXPECT_EQ(base::has_carryless_multiplication(), is_listed("pmull"));
#else
  GTEST_SKIP() << "only x86-64 and ARM have these features";
#endif
}

}  // namespace
}  // namespace onnxar::testing
