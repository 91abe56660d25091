// Tests formatting, escaping and comparing text.
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/near_names.h"
#include "onnxar/error.h"

namespace onnxar::testing {
namespace {

TEST(Characters, OfIdentifiersAreAsciiWordCharacters) {
  const std::string_view all = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
  std::string found;
  for (int c = 0; c < 256; ++c) {
    if (base::is_identifier_character(static_cast<char>(c))) found += static_cast<char>(c);
  }
  EXPECT_EQ(found, all);
}

TEST(Folding, ChangesOnlyAsciiLetters) {
  for (int value = -128; value < 128; ++value) {
    const char c = static_cast<char>(value);
    const bool capital = c >= 'A' && c <= 'Z';
    EXPECT_EQ(base::folded(c), capital ? static_cast<char>(c + 32) : c) << value;
  }
  EXPECT_EQ(base::folded_copy("Layer_0.WEIGHT[@]`{"), "layer_0.weight[@]`{");
  EXPECT_EQ(base::folded_copy("\xc3\x84"), "\xc3\x84");
}

TEST(Quoted, ShortNamesAreWholeAndEscaped) {
  EXPECT_EQ(base::quoted(""), "\"\"");
  EXPECT_EQ(base::quoted("a\nb\xc3\xa9"), "\"a\\x0ab\\u00e9\"");
  const std::string longest(base::longest_quoted, 'n');
  EXPECT_EQ(base::quoted(longest), "\"" + longest + "\"");
}

TEST(Quoted, LongNamesAreCutAndStateTheirLength) {
  const std::string kept(base::longest_quoted, 'n');
  EXPECT_EQ(base::quoted(kept + "m"), "\"" + kept + "...\" (201 bytes)");
  EXPECT_EQ(base::quoted(std::string(1U << 24U, 'n')), "\"" + kept + "...\" (16777216 bytes)");
}

TEST(Quoted, AreNotCutInTheMiddleOfACharacter) {
  for (const std::string_view character : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    for (std::size_t fits = 0; fits <= character.size(); ++fits) {
      const std::string before(base::longest_quoted - fits, 'n');
      const std::string kept = before + (fits == character.size() ? escaped(character) : "");
      const std::string name = before + std::string(character) + "more";
      EXPECT_EQ(base::quoted(name), "\"" + kept + "...\" (" + std::to_string(name.size()) + " bytes)");
    }
  }
}

TEST(Quoted, BytesThatAreNotUtf8AreCutAnywhere) {
  const std::string name(1000, '\x80');
  std::string kept;
  for (std::size_t i = 0; i < base::longest_quoted; ++i) kept += "\\x80";
  EXPECT_EQ(base::quoted(name), "\"" + kept + "...\" (1000 bytes)");
}

TEST(PlainDecimal, IsDigitsWithoutNeedlessZeros) {
  EXPECT_EQ(base::plain_decimal("0"), 0U);
  EXPECT_EQ(base::plain_decimal("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text : {"", "00", "01", "+1", "-1", " 1", "1 ", "1.0", "0x1", "x", "18446744073709551616"}) {
    EXPECT_EQ(base::plain_decimal(text), std::nullopt) << text;
  }
}

using ::testing::IsEmpty;

std::string near(std::string_view wanted, const std::vector<std::string>& names) {
  base::NearNames near_names(wanted);
  for (const std::string& name : names) near_names.consider(name);
  return near_names.text();
}

TEST(NearNames, ListsTheNearestFirstAndNoneTwice) {
  EXPECT_EQ(near("weight", {"heights", "weigth", "weight1", "weight1", "bias", ""}),
            "; near names: \"weight1\", \"heights\", \"weigth\"");
  EXPECT_EQ(near("bias", {"encoder.bias", "a.bias", "weight"}), "; near names: \"a.bias\", \"encoder.bias\"");
  EXPECT_THAT(near("w", {"completely else"}), IsEmpty());
}

TEST(NearNames, EditsAreFoundAtBothEndsAndInBetween) {
  for (const std::string name : {"bcdefgh", "abcdefg", "abcefgh", "xabcdefgh", "abcdefghx", "abcdxefgh", "abxdefgh"}) {
    EXPECT_EQ(near("abcdefgh", {name}), "; near names: \"" + name + "\"");
  }
  EXPECT_THAT(near("abcdefgh", {"defgh", "hgfedcba"}), IsEmpty());
}

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

/// `c` at `place` among seven small letters.
std::uint64_t word_with(unsigned c, unsigned place) {
  const std::uint64_t others = base::every_byte('n') & ~(std::uint64_t{0xff} << (8 * place));
  return others | std::uint64_t{c} << (8 * place);
}

template <typename Check>
void for_each_word(const Check& check) {
  for (unsigned place = 0; place < 8; ++place) {
    for (unsigned c = 0; c < 256; ++c) {
      SCOPED_TRACE(::testing::Message() << "character " << c << " at " << place);
      check(c, place);
    }
  }
}

TEST(AsciiWords, RangesHoldTheirEndsAndNothingBeyondAscii) {
  for_each_word([](unsigned c, unsigned place) {
    const std::uint64_t bit = std::uint64_t{0x80} << (8 * place);
    EXPECT_EQ((base::bytes_between(word_with(c, place), '0', '9') & bit) != 0, c >= '0' && c <= '9');
    EXPECT_EQ((base::bytes_between(word_with(c, place), 0, 0x7f) & bit) != 0, c < 0x80);
  });
}

TEST(AsciiWords, FoldingChangesOnlyAsciiCapitals) {
  for_each_word([](unsigned c, unsigned place) {
    const unsigned small = c >= 'A' && c <= 'Z' ? c + 0x20 : c;
    EXPECT_EQ(base::folded_word(word_with(c, place)), word_with(small, place));
  });
}

}  // namespace
}  // namespace onnxar::testing
