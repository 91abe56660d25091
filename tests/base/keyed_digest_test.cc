#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/keyed_hash.h"
#include "support/guarded_buffer.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using base::DigestKey;
using base::KeyedDigest;

/// Bytes that count from 0, as in the algorithm's own test vectors.
Blob counting(std::size_t size) {
  Blob bytes(size);
  std::ranges::generate(bytes, [i = 0]() mutable { return static_cast<std::byte>(i++); });
  return bytes;
}

const DigestKey key({0x0706050403020100, 0x0f0e0d0c0b0a0908});

base::Digest digest_of(Bytes bytes) {
  KeyedDigest digest(key);
  digest.add(bytes);
  return digest.result();
}

// Made by a program that was written from the papers, and gives the published vectors of SipHash-2-4.
TEST(KeyedDigest, IsSipHash13OfTwoSumsByNhOfEachBlock) {
  const std::pair<std::size_t, base::Digest> known[] = {
      {0, {0x19dc903449ae1b60, 0x020ff2c50e9019e3}},    {1, {0x34951e47a519c983, 0xc2cde7a745eb124e}},
      {31, {0xae40c55e850eba4d, 0x7884beee6af5abfb}},   {32, {0x81e43fd2a4210f32, 0x6bede035ee34085f}},
      {33, {0x03589d82621950f7, 0x06850a80e503a660}},   {1023, {0x8cef87be76b54c68, 0xec0dcddccce247c7}},
      {1024, {0x75eaa444e7beaefb, 0xfb13fd9e23061eb8}}, {1025, {0x8e08b68cad21384e, 0x65a74bfcffb8735d}},
      {2048, {0x08b0519d5a5787ac, 0xdb614b098b8053cc}}, {5000, {0xc0b1e959b3ab0633, 0x268a6d35fc9c2f4b}},
  };
  for (const auto& [size, expected] : known) EXPECT_EQ(digest_of(counting(size)), expected) << size;
}

TEST(KeyedDigest, EachBitOfABlockAndItsLengthCount) {
  Blob bytes = counting(1024 + 40);
  const base::Digest whole = digest_of(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const auto flipped = static_cast<std::byte>(1U << bit % 8);
    bytes[bit / 8] ^= flipped;
    EXPECT_NE(digest_of(bytes), whole) << bit;
    bytes[bit / 8] ^= flipped;
  }
  bytes.push_back(std::byte{0});
  EXPECT_NE(digest_of(bytes), whole);
}

TEST(KeyedDigest, IsTheSameHoweverTheBytesAreCut) {
  const Blob bytes = counting(2100);
  for (std::size_t first = 0; first <= bytes.size(); first += 50) {
    for (std::size_t second = first; second <= bytes.size(); second += 31) {
      KeyedDigest digest(key);
      digest.add(Bytes(bytes).first(first));
      digest.add(Bytes(bytes).subspan(first, second - first));
      digest.add(Bytes(bytes).subspan(second));
      EXPECT_EQ(digest.result(), digest_of(bytes)) << first << ' ' << second;
    }
  }
}

TEST(KeyedDigest, ANumberIsEightBytes) {
  KeyedDigest digest(key);
  digest.add(std::uint64_t{0x0706050403020100});
  EXPECT_EQ(digest.result(), digest_of(counting(8)));
}

TEST(KeyedDigest, HasTheKeyOfTheProcessUnlessOneIsGiven) {
  KeyedDigest digest, again(base::process_digest_key());
  EXPECT_EQ(digest.result(), again.result());
  EXPECT_NE(digest.result(), digest_of({}));
}

TEST(KeyedDigest, ReadsNotOneByteBeyondThePiece) {
  for (const std::size_t size : {0U, 1U, 20U, 31U, 32U, 33U, 1023U, 1024U, 1025U, 2048U}) {
    const GuardedBuffer bytes = GuardedBuffer::ending_at_guard(counting(size));
    EXPECT_EQ(digest_of(bytes.bytes()), digest_of(counting(size)));
  }
}

/// Hands bytes out one by one, with an empty piece before each.
class OneByOne final : public ByteSource {
 public:
  explicit OneByOne(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      sink({});
      sink(bytes_.subspan(i, 1));
    }
  }

 private:
  Bytes bytes_;
};

TEST(HasBytes, IsFalseIfAnyByteDiffers) {
  const Blob bytes = counting(20);
  EXPECT_TRUE(base::has_bytes(OneByOne(bytes), bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Blob other = bytes;
    other[i] ^= std::byte{0x80};
    EXPECT_FALSE(base::has_bytes(OneByOne(bytes), other)) << i;
  }
}

}  // namespace
}  // namespace onnxar::testing
