// Tests the SHA-1 in links: writing, keeping and comparing it.
#include "convert/checksum.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

// What `printf abc | sha1sum` prints.
constexpr std::string_view sum_of_abc = "a9993e364706816aba3e25717850c26c9cd0d89d";

class ChecksumTest : public ::testing::Test {
 protected:
  [[nodiscard]] ChecksumSource source(std::string_view checksum) const {
    const Finding mismatch{Severity::error, Code::onnx_external_checksum, {"w", 7}, "differs"};
    return {std::make_shared<SpanSource>(Bytes(data_)), std::string(checksum), mismatch, "w.bin"};
  }

  Blob data_ = blob("abc");
};

TEST_F(ChecksumTest, IsATextOfFortyHexadecimalDigits) {
  EXPECT_EQ(parse_checksum("A9993E364706816ABA3E25717850C26C9CD0D89D"), sum_of_abc);
  EXPECT_EQ(parse_checksum(sum_of_abc.substr(1)), std::nullopt);
  EXPECT_EQ(parse_checksum("g9993e364706816aba3e25717850c26c9cd0d89d"), std::nullopt);
  EXPECT_EQ(parse_checksum(""), std::nullopt);
}

TEST_F(ChecksumTest, IsTheSha1OfAllBytes) { EXPECT_EQ(checksum_of(SpanSource(data_)), sum_of_abc); }

TEST_F(ChecksumTest, BytesWithTheRightSumArePassedOn) {
  std::string passed;
  source(sum_of_abc).read([&passed](Bytes piece) { passed += as_text(piece); });
  EXPECT_EQ(passed, "abc");
}

TEST_F(ChecksumTest, AWrongSumIsAnErrorAfterTheLastByte) {
  std::string passed;
  const auto refused = refusal_of([&] {
    source(std::string(40, '0')).read([&passed](Bytes piece) { passed += as_text(piece); });
    return true;
  });
  EXPECT_EQ(refused, (ErrorContext{Code::onnx_external_checksum, "w", 7}));
  EXPECT_EQ(passed, "abc");
}

TEST_F(ChecksumTest, ComparedBytesMustBeReadThroughTheSource) {
  int runs = 0;
  source(sum_of_abc).locate([&runs](const Location& run) {
    ++runs;
    EXPECT_TRUE(run.verified);
  });
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace onnxar::testing
