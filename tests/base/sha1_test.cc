// SHA-1 against the examples of its standard (FIPS 180).
#include "base/sha1.h"

#include <gtest/gtest.h>

#include <string>

namespace onnxar::testing {
namespace {

std::string sha1(std::string_view text) {
  base::Sha1 sum;
  sum.update(as_bytes(text));
  return std::move(sum).hex();
}

TEST(Sha1, GivesTheStandardsDigests) {
  EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(Sha1, PiecesMakeTheSameDigest) {
  const std::string text(1000, 'b');
  base::Sha1 sum;
  for (std::size_t begin = 0; begin < text.size(); begin += 7) sum.update(as_bytes(text.substr(begin, 7)));
  EXPECT_EQ(std::move(sum).hex(), sha1(text));
}

}  // namespace
}  // namespace onnxar::testing
