// UTF-8 is decoded strictly.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace onnxar::testing {
namespace {

using base::begins_with_control;
using base::is_utf8;
using base::utf8_sequence_length;

std::string encoded(char32_t point) {
  const auto tail = [point](unsigned shift) { return static_cast<char>(0x80U | ((point >> shift) & 0x3fU)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xc0U | (point >> 6U)), tail(0)};
  if (point < 0x10000) return {static_cast<char>(0xe0U | (point >> 12U)), tail(6), tail(0)};
  return {static_cast<char>(0xf0U | (point >> 18U)), tail(12), tail(6), tail(0)};
}

bool is_surrogate(char32_t point) { return point >= 0xd800 && point < 0xe000; }

TEST(Utf8, EveryCodePointIsReadAndDecoded) {
  for (char32_t point = 0; point <= 0x10ffff; ++point) {
    const std::string text = encoded(point);
    const std::size_t expected = is_surrogate(point) ? 0 : text.size();
    ASSERT_EQ(utf8_sequence_length(text), expected) << static_cast<unsigned>(point);
    ASSERT_EQ(utf8_sequence_length(text + "\xff"), expected) << static_cast<unsigned>(point);
    if (is_surrogate(point)) continue;
    ASSERT_EQ(base::utf8_code_point(text + "z"), point);
  }
}

// Counting shows, together with the test above, that no other sequences are accepted: there are as many as code points.
TEST(Utf8, NoOtherShortSequenceIsRead) {
  std::size_t one = 0;
  std::size_t two = 0;
  std::size_t three = 0;
  std::string text(3, '\0');
  for (unsigned value = 0; value < 1U << 24U; ++value) {
    for (unsigned i = 0; i < 3; ++i) text[i] = static_cast<char>((value >> (8 * (2 - i))) & 0xffU);
    const std::size_t length = utf8_sequence_length(text);
    three += length == 3 ? 1U : 0U;
    if ((value & 0xffU) == 0) two += length == 2 ? 1U : 0U;
    if ((value & 0xffffU) == 0) one += length == 1 ? 1U : 0U;
  }
  EXPECT_EQ(one, 0x80U);
  EXPECT_EQ(two, 0x800U - 0x80U);
  EXPECT_EQ(three, 0x10000U - 0x800U - 0x800U);
}

TEST(Utf8, NoOtherLongSequenceIsRead) {
  std::size_t count = 0;
  for (unsigned lead = 0xf0; lead <= 0xff; ++lead) {
    for (unsigned second = 0; second < 256; ++second) {
      for (const char third : {'\x7f', '\x80', '\xbf', '\xc0'}) {
        for (const char fourth : {'\x7f', '\x80', '\xbf', '\xc0'}) {
          const std::string text = {static_cast<char>(lead), static_cast<char>(second), third, fourth};
          count += utf8_sequence_length(text) == 4 ? 1U : 0U;
        }
      }
    }
  }
  // 0x100 pairs of the first two bytes begin U+10000 to U+10FFFF; of the borders tried, two bytes each continue.
  EXPECT_EQ(count, 0x100U * 2 * 2);
}

TEST(Utf8, SequencesThatAreCutShortAreNotRead) {
  for (const char32_t point : {U'\u00e9', U'\u20ac', U'\U0001f600'}) {
    const std::string text = encoded(point);
    for (std::size_t length = 0; length < text.size(); ++length) {
      EXPECT_EQ(utf8_sequence_length(std::string_view(text).substr(0, length)), 0U);
    }
  }
}

TEST(Utf8, ControlCharactersAreC0DeleteAndC1) {
  for (char32_t point = 0; point < 0x800; ++point) {
    const bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    EXPECT_EQ(begins_with_control(encoded(point)), control) << static_cast<unsigned>(point);
    EXPECT_EQ(begins_with_control(encoded(point) + "\x01"), control) << static_cast<unsigned>(point);
  }
  EXPECT_FALSE(begins_with_control(""));
  EXPECT_FALSE(begins_with_control("\xc2"));
  EXPECT_FALSE(begins_with_control("\x80"));
}

TEST(Utf8, ChecksWholeTexts) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_utf8("\xe2\x82\xac"));
  EXPECT_FALSE(is_utf8("fine until here \x80"));
  EXPECT_FALSE(is_utf8("\xe2\x82\xac\xe2\x82"));
}

}  // namespace
}  // namespace onnxar::testing
