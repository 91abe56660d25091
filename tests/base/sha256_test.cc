// SHA-256 is compared with the examples of its standard (FIPS 180), and with digests by Python's hashlib.
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "support/emulation.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// Each test runs without and, if the CPU has them, with instructions for SHA-256.
class Sha256 : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !base::has_sha256_instructions()) GTEST_SKIP() << "this CPU has no instructions for SHA-256";
  }
  [[nodiscard]] static base::Sha256 begin() { return base::Sha256(GetParam()); }
  [[nodiscard]] static std::string sha256(Bytes bytes) {
    base::Sha256 sum = begin();
    sum.update(bytes);
    return std::move(sum).hex();
  }
  [[nodiscard]] static std::string sha256(std::string_view text) { return sha256(as_bytes(text)); }
};

TEST(Sha256Instructions, AreUsedIfTheKernelListsThem) {
  ONNXAR_NATIVELY("show the features of the processor in /proc/cpuinfo");
#if defined(__x86_64__) || defined(__aarch64__)
  std::ifstream file("/proc/cpuinfo");
  if (!file) GTEST_SKIP() << "there is no /proc/cpuinfo";
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const bool is_listed = text.find(" sha_ni ") != std::string::npos || text.find(" sha2 ") != std::string::npos;
  EXPECT_EQ(base::has_sha256_instructions(), is_listed);
#else
  GTEST_SKIP() << "only on x86-64 and ARM are they used";
#endif
}

INSTANTIATE_TEST_SUITE_P(Engines, Sha256, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Instructions" : "Plain"; });

TEST_P(Sha256, ReturnsTheStandardsDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                   "mnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Around 56 and 64 bytes the padding moves to another block.
TEST_P(Sha256, EverySizeUpToThreeBlocksIsPaddedRightly) {
  std::string digests;
  for (std::size_t size = 0; size <= std::size_t{3} * 64; ++size) digests += sha256(std::string(size, 'a'));
  EXPECT_EQ(sha256(digests), "b4442fc5eb24ba9df23d86895d1bf1b6f72bdfc371f40c59d3c660593bbba01c");
}

TEST_P(Sha256, PiecesOfAnySizeMakeTheSameDigest) {
  const Blob bytes = pattern(100'003, 3);
  const std::string whole = sha256(bytes);
  for (const std::size_t size : {1U, 7U, 63U, 64U, 65U, 4096U}) {
    base::Sha256 sum = begin();
    for (Bytes rest = bytes; !rest.empty(); rest = rest.subspan(std::min(size, rest.size()))) {
      sum.update(rest.first(std::min(size, rest.size())));
      sum.update({});
    }
    EXPECT_EQ(std::move(sum).hex(), whole) << size;
  }
}

}  // namespace
}  // namespace onnxar::testing
