// Folding by every width that this CPU has, regardless of which of them `crc32` uses.
#include "base/crc32_fold.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/crc32.h"
#include "support/emulation.h"
#include "support/guarded_buffer.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

class Crc32Fold : public ::testing::TestWithParam<base::Fold> {
 protected:
  void SetUp() override {
    if (base::widest_fold() < GetParam()) GTEST_SKIP() << "this CPU does not fold that many bits";
  }

  /// The remainder by the definition.
  static std::uint32_t finished(const base::FoldedCrc32& folded) {
    Blob message(folded.short_form.begin(), folded.short_form.end());
    message.insert(message.end(), folded.rest.begin(), folded.rest.end());
    std::uint32_t state = ~folded.crc;
    for (const std::byte byte : message) {
      state ^= std::to_integer<std::uint32_t>(byte);
      for (int bit = 0; bit < 8; ++bit) state = (state >> 1U) ^ ((state & 1U) != 0 ? 0xEDB88320U : 0U);
    }
    return ~state;
  }
};

TEST_P(Crc32Fold, KeepsTheCrcOfEverySizeBesideAGuardPage) {
  for (std::size_t size = base::FoldedCrc32::size; size <= 5 * base::FoldedCrc32::size; ++size) {
    const Blob data = pattern(size, static_cast<std::uint32_t>(size));
    const GuardedBuffer at_end = GuardedBuffer::ending_at_guard(data);
    const base::FoldedCrc32 folded = base::fold_crc32(GetParam(), 0, at_end.bytes());
    EXPECT_LT(folded.rest.size(), base::FoldedCrc32::size);
    EXPECT_EQ(finished(folded), bitwise_crc32(data)) << size;
  }
}

TEST_P(Crc32Fold, ContinuesACrc) {
  const Blob data = pattern(3000, 5);
  const Bytes whole = data;
  for (const std::size_t cut : {1U, 64U, 255U, 256U, 1000U}) {
    const std::uint32_t begun = bitwise_crc32(whole.first(cut));
    const base::FoldedCrc32 folded = base::fold_crc32(GetParam(), begun, whole.subspan(cut));
    EXPECT_EQ(finished(folded), bitwise_crc32(data)) << cut;
  }
}

/// Whether the kernel lists the feature. It leaves out those whose registers it does not save.
[[maybe_unused]] bool is_listed(const std::string& feature) {
  std::ifstream file("/proc/cpuinfo");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.find(" " + feature + " ") != std::string::npos;
}

TEST(WidestFold, IsThatOfTheFeaturesThatTheKernelLists) {
  ONNXAR_NATIVELY("show the features of the processor in /proc/cpuinfo");
  if (!std::ifstream("/proc/cpuinfo")) GTEST_SKIP() << "there is no /proc/cpuinfo";
#if defined(__x86_64__)
  const bool by_256 = is_listed("vpclmulqdq") && is_listed("avx2");
  const base::Fold wide = by_256 && is_listed("avx512f") ? base::Fold::by_512 : base::Fold::by_256;
  EXPECT_EQ(base::widest_fold(), by_256 ? wide : is_listed("pclmulqdq") ? base::Fold::by_128 : base::Fold::none);
#elif defined(__aarch64__)
  EXPECT_EQ(base::widest_fold(), is_listed("pmull") ? base::Fold::by_128 : base::Fold::none);
#else
  GTEST_SKIP() << "only x86-64 and ARM have these features";
#endif
}

std::string name_of(const ::testing::TestParamInfo<base::Fold>& info) {
  return info.param == base::Fold::by_128 ? "By128" : info.param == base::Fold::by_256 ? "By256" : "By512";
}

INSTANTIATE_TEST_SUITE_P(Widths, Crc32Fold,
                         ::testing::Values(base::Fold::by_128, base::Fold::by_256, base::Fold::by_512), name_of);

}  // namespace
}  // namespace onnxar::testing
