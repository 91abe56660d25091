// SHA-1 is compared with the examples of its standard (FIPS 180); sha1_posix_test.cc compares it with sha1sum.
#include "base/sha1.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

std::string sha1(Bytes bytes) {
  base::Sha1 sum;
  sum.update(bytes);
  return std::move(sum).hex();
}

std::string sha1(std::string_view text) { return sha1(as_bytes(text)); }

/// The digest of pieces of `first`, `first + step`, ... bytes.
std::string sha1_in_pieces(Bytes bytes, std::size_t first, std::size_t step) {
  base::Sha1 sum;
  for (std::size_t size = first; !bytes.empty(); size += step) {
    const std::size_t piece = std::min(size, bytes.size());
    sum.update(bytes.first(piece));
    bytes = bytes.subspan(piece);
  }
  return std::move(sum).hex();
}

TEST(Sha1, ReturnsTheStandardsDigests) {
  EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                 "mnopqrstnopqrstu"),
            "a49b2446a02c645bf419f995b67091253a04a259");
  EXPECT_EQ(sha1(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(Sha1, PiecesOfAnySizeMakeTheSameDigest) {
  const Blob bytes = pattern(100'003, 3);
  const std::string whole = sha1(bytes);
  for (const std::size_t first : {1U, 7U, 55U, 63U, 64U, 65U, 127U, 4096U}) {
    for (const std::size_t step : {0U, 1U, 13U}) {
      EXPECT_EQ(sha1_in_pieces(bytes, first, step), whole) << first << ' ' << step;
    }
  }
}

TEST(Sha1, EmptyPiecesChangeNothing) {
  base::Sha1 sum;
  sum.update({});
  sum.update(as_bytes("ab"));
  sum.update({});
  sum.update(as_bytes("c"));
  EXPECT_EQ(std::move(sum).hex(), sha1("abc"));
}

// The padding holds the length in bits, which exceeds 32 bits here. The digest is sha1sum's.
TEST(Sha1Slow, CountsMoreThan32BitsOfBits) {
  const Blob zeros(64U << 20U);
  base::Sha1 sum;
  for (int i = 0; i < 8; ++i) sum.update(zeros);
  sum.update(Bytes(zeros).first(1));
  EXPECT_EQ(std::move(sum).hex(), "3e1bb536d18494c32e66ef9f479d65bbe0d863de");
}

TEST(Sha1, SaysHowManyBytesWereSummed) {
  const std::uint64_t before = base::Sha1::bytes_summed();
  sha1(std::string(1000, 'a'));
  EXPECT_EQ(base::Sha1::bytes_summed() - before, 1000U);
}

}  // namespace
}  // namespace onnxar::testing
