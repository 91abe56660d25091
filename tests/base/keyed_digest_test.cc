#include "base/keyed_digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "support/guarded_buffer.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using base::KeyedDigest;
using base::SipHash;

/// Bytes that count from 0, as in the algorithm's own test vectors.
Blob counting(std::size_t size) {
  Blob bytes(size);
  std::ranges::generate(bytes, [i = 0]() mutable { return static_cast<std::byte>(i++); });
  return bytes;
}

constexpr SipHash::Key key{0x0706050403020100, 0x0f0e0d0c0b0a0908};

base::Digest digest_of(Bytes bytes) {
  KeyedDigest digest(key);
  digest.add(bytes);
  return digest.result();
}

// Made by a program that was written from the paper and gives the published vectors of SipHash-2-4-128.
TEST(KeyedDigest, IsSipHash13With128Bits) {
  const std::pair<std::size_t, base::Digest> known[] = {
      {0, {0xbea58827b2bc7ee7, 0x013030dd6adb62fd}},  {1, {0xa8edd36004376ffc, 0x63f02f2bcc73055e}},
      {7, {0xc3e0aaf223b98410, 0x77ab4808c82e2fa6}},  {8, {0xb4dae3d5e1fe12aa, 0x99c7f935ab164f72}},
      {9, {0x9439f32c04b8dd81, 0x427c1394000e72f4}},  {15, {0x6c52bdb205557ec1, 0x09017e1eeccd2129}},
      {63, {0x6f42fe4ee300584c, 0xad6052a70a6b9f07}},
  };
  for (const auto& [size, expected] : known) EXPECT_EQ(digest_of(counting(size)), expected) << size;
}

TEST(KeyedDigest, IsTheSameHoweverTheBytesAreCut) {
  const Blob bytes = counting(40);
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    for (std::size_t second = first; second <= bytes.size(); ++second) {
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
  KeyedDigest digest, again(base::process_key());
  EXPECT_EQ(digest.result(), again.result());
  EXPECT_NE(digest.result(), digest_of({}));
}

TEST(KeyedDigest, ReadsNotOneByteBeyondThePiece) {
  for (std::size_t size = 0; size <= 20; ++size) {
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
