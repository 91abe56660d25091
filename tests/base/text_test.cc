// Tests formatting, escaping and comparing text.
#include "base/text.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

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

TEST(ParseDigest, IsALengthOfHexadecimalDigits) {
  EXPECT_EQ(base::parse_digest("09afAF", 6), "09afaf");
  EXPECT_EQ(base::parse_digest("09afA", 6), std::nullopt);
  EXPECT_EQ(base::parse_digest("09afAF0", 6), std::nullopt);
  for (const char* const text : {"09afg0", "09af/0", "09af:0", "09af@0", "09af`0", "09af 0"}) {
    EXPECT_EQ(base::parse_digest(text, 6), std::nullopt) << text;
  }
}

TEST(PlainDecimal, IsDigitsWithoutNeedlessZeros) {
  EXPECT_EQ(base::plain_decimal("0"), 0U);
  EXPECT_EQ(base::plain_decimal("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text : {"", "00", "01", "+1", "-1", " 1", "1 ", "1.0", "0x1", "x", "18446744073709551616"}) {
    EXPECT_EQ(base::plain_decimal(text), std::nullopt) << text;
  }
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
