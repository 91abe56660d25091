// The hash of tables whose keys come from files.
#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/colliding_texts.h"
#include "onnxar/bytes.h"
#include "support/guarded_buffer.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using base::KeyedHash;
using base::SipHash;

// The hashes of bytes in CPython 3.11 with PYTHONHASHSEED=0, which makes the key zero.
TEST(SipHash13, GivesTheHashesOfCPython) {
  const std::pair<std::string, std::uint64_t> known[] = {
      {"a", 0x407448d2b89b1813},
      {"abc", 0xc03bc3a0042630f2},
      {"weights", 0xe8d0e1eb46e632aa},
      {"weights0", 0x93e0939df51f18b8},
      {"model.layers.31.mlp.weight", 0x3f4956339531b9fe},
      {std::string(300, 'x'), 0x2f58903130dc04e4},
  };
  for (const auto& [text, expected] : known) EXPECT_EQ(base::sip_hash({}, text), expected) << text;
}

// The key and the messages of the algorithm's own test vectors: bytes that count from 0.
TEST(SipHash13, EveryByteOfTheKeyAndOfAShortTextCounts) {
  constexpr SipHash::Key key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  const std::pair<std::size_t, std::uint64_t> known[] = {
      {0, 0xabac0158050fc4dc}, {1, 0xc9f49bf37d57ca93}, {3, 0x8bf80ab8e7ddf7fb},  {4, 0xcf75576088d38328},
      {7, 0xd3927d989bb11140}, {8, 0x369095118d299a8e}, {15, 0xd320d86d2a519956}, {63, 0x9d199062b7bbb3a8},
  };
  for (const auto& [length, expected] : known) {
    std::string text(length, '\0');
    std::ranges::generate(text, [i = char{0}]() mutable { return i++; });
    EXPECT_EQ(base::sip_hash(key, text), expected) << length;
  }
}

TEST(SipHash13, ReadsNotOneByteBeyondAText) {
  for (std::size_t length = 0; length <= 20; ++length) {
    const GuardedBuffer text = GuardedBuffer::ending_at_guard(Blob(length, std::byte{'a'}));
    EXPECT_EQ(base::sip_hash({}, as_text(text.bytes())), base::sip_hash({}, std::string(length, 'a')));
  }
}

TEST(KeyedHash, UsesTheKeyOfTheProcessAndNoFixedOne) {
  EXPECT_EQ(KeyedHash{}("w"), static_cast<std::size_t>(base::sip_hash(base::process_key(), "w")));
  EXPECT_NE(KeyedHash{}("w"), static_cast<std::size_t>(base::sip_hash({}, "w")));
  EXPECT_EQ(&base::process_key(), &base::process_key());
  EXPECT_NE(base::process_key().low, base::process_key().high);
}

TEST(KeyedHash, TextsOfEveryTypeHashAlike) {
  EXPECT_EQ(KeyedHash{}(std::string("weight")), KeyedHash{}(std::string_view("weight")));
  EXPECT_EQ(KeyedHash{}("weight"), KeyedHash{}(std::string_view("weight")));
}

TEST(KeyedHash, PairsHashByBothAndByTheirOrder) {
  const auto of = [](const auto& a, const auto& b) { return KeyedHash{}(std::pair(a, b)); };
  EXPECT_EQ(of(std::string("a"), 1), of(std::string_view("a"), 1));
  EXPECT_NE(of(1, 2), of(2, 1));
  EXPECT_NE(of(1, 2), of(1, 3));
  EXPECT_NE(of(std::string("ab"), std::string("c")), of(std::string("a"), std::string("bc")));
}

// Numbers from files are offsets and sizes. Many are multiples of a power of two, which a table without hashing puts
// into few buckets.
TEST(KeyedHash, NumbersSpreadOverATable) {
  base::KeyedSet<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 10000; ++i) numbers.insert(i << 40U);
  std::size_t longest = 0;
  for (std::size_t bucket = 0; bucket < numbers.bucket_count(); ++bucket) {
    longest = std::max(longest, numbers.bucket_size(bucket));
  }
  EXPECT_LE(longest, 16U);
}

TEST(KeyedHash, TextsMadeToCollideUnderAFixedSeedDoNot) {
  const CollidingTexts colliding(12);
#if defined(__GLIBCXX__) && SIZE_MAX == UINT64_MAX  // smaller hashes are of a different function
  for (const std::string& text : colliding.texts()) {
    ASSERT_EQ(std::hash<std::string>{}(text), std::hash<std::string>{}(colliding.texts().front()));
  }
#endif
  base::KeyedSet<std::size_t> hashes;
  for (const std::string& text : colliding.texts()) hashes.insert(KeyedHash{}(text));
  EXPECT_EQ(hashes.size(), 4096U);
}

TEST(KeyedHash, ATableLooksTextsUpWithoutACopy) {
  base::KeyedMap<std::string, int> map{{"weight", 1}};
  EXPECT_NE(map.find(std::string_view("weight")), map.end());
  EXPECT_TRUE(base::KeyedSet<std::string>{"a"}.contains(std::string_view("a")));
}

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
