// The hash of tables whose keys come from files.
#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/colliding_texts.h"
#include "onnxar/bytes.h"
#include "support/guarded_buffer.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using base::KeyedHash;
using base::SipHash;

// The hashes of bytes in CPython 3.11 with PYTHONHASHSEED=0, which makes the key zero.
TEST(SipHash13, ReturnsTheHashesOfCPython) {
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

TEST(SipHash13, ReadsNoByteOutsideText) {
  for (std::size_t length = 0; length <= 20; ++length) {
    const GuardedBuffer before = GuardedBuffer::ending_at_guard(Blob(length, std::byte{'a'}));
    const GuardedBuffer after = GuardedBuffer::starting_after_guard(Blob(length, std::byte{'a'}));
    EXPECT_EQ(base::sip_hash({}, as_text(before.bytes())), base::sip_hash({}, std::string(length, 'a')));
    EXPECT_EQ(base::sip_hash({}, as_text(after.bytes())), base::sip_hash({}, std::string(length, 'a')));
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

}  // namespace
}  // namespace onnxar::testing
