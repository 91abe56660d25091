// Which names are allowed: one rule a test.
#include "zip/names.h"

#include <gtest/gtest.h>

#include <string>

#include "support/refusal.h"

namespace onnxar::testing {
namespace {

std::optional<Code> fault(std::string_view name) {
  const auto found = zip::name_fault(name);
  if (!found) return std::nullopt;
  EXPECT_FALSE(found->message.empty());
  return found->code;
}

TEST(NameFault, OrdinaryNamesHaveNone) {
  for (const std::string_view name :
       {"w", "layer_0_weight", "__MODEL_PROTO", "tokenizer.json", "a/b/c.txt", "a b", "-", "...", ".hidden", "a..b",
        "ab:c", "1", "~", "gr\xc3\xb6\xc3\x9f.txt", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(fault(name), std::nullopt) << name;
  }
}

// Names are looked at eight characters at once, so each place in and behind a word counts.
TEST(NameFault, AFaultIsSeenAtAnyPlaceOfANameOfAnyLength) {
  for (std::size_t length = 1; length < 30; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      std::string name(length, 'n');
      EXPECT_EQ(fault(name), std::nullopt);
      name[place] = '\\';
      EXPECT_EQ(fault(name), Code::zip_name_backslash) << name;
    }
  }
}

TEST(NameFault, EmptyNameIsRefused) { EXPECT_EQ(fault(""), Code::zip_name_empty); }

TEST(NameFault, NamesEndAt1024Bytes) {
  EXPECT_EQ(fault(std::string(1024, 'n')), std::nullopt);
  EXPECT_EQ(fault(std::string(1025, 'n')), Code::zip_name_too_long);
  EXPECT_EQ(fault(std::string(65000, 'n')), Code::zip_name_too_long);
  EXPECT_EQ(fault(std::string(1023, '.') + "n"), std::nullopt);
}

TEST(NameFault, InvalidUtf8IsRefused) {
  for (const std::string_view name : {"\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_EQ(fault(name), Code::zip_name_encoding) << escaped(name);
  }
}

TEST(NameFault, ControlCharactersAreRefused) {
  for (char c = 0; c < 0x20; ++c) EXPECT_EQ(fault(std::string("a") + c), Code::zip_name_control) << int{c};
  EXPECT_EQ(fault("\x7f"), Code::zip_name_control);
  EXPECT_EQ(fault(std::string_view("__MODEL_PROTO\0x", 15)), Code::zip_name_control);
  EXPECT_EQ(fault("w\x1b[2J"), Code::zip_name_control);
}

// U+009B does to a terminal what ESC [ does; `escaped` knows that too.
TEST(NameFault, ControlCharactersOfTheC1RangeAreRefused) {
  EXPECT_EQ(fault("w\xc2\x9b"
                  "2J"),
            Code::zip_name_control);
  EXPECT_EQ(fault("\xc2\x80"), Code::zip_name_control);
  EXPECT_EQ(fault("\xc2\xa0"), std::nullopt);
}

TEST(NameFault, BackslashIsRefused) {
  EXPECT_EQ(fault("a\\b"), Code::zip_name_backslash);
  EXPECT_EQ(fault("..\\a"), Code::zip_name_backslash);
}

TEST(NameFault, AbsolutePathIsRefused) {
  EXPECT_EQ(fault("/etc/passwd"), Code::zip_name_absolute);
  EXPECT_EQ(fault("/"), Code::zip_name_absolute);
  EXPECT_EQ(fault("//a"), Code::zip_name_absolute);
}

TEST(NameFault, DriveLetterIsRefused) {
  for (const std::string_view name : {"c:", "C:x", "z:/x", "a:b/c"}) {
    EXPECT_EQ(fault(name), Code::zip_name_drive) << name;
  }
  EXPECT_EQ(fault("1:x"), std::nullopt);
}

TEST(NameFault, TrailingSlashIsRefused) {
  EXPECT_EQ(fault("a/"), Code::zip_name_directory);
  EXPECT_EQ(fault("a/b/"), Code::zip_name_directory);
}

TEST(NameFault, PartsThatAreEmptyOrDotsAreRefused) {
  for (const std::string_view name : {".", "..", "./a", "../a", "a/./b", "a/../b", "a/..", "a/.", "a//b"}) {
    EXPECT_EQ(fault(name), Code::zip_name_part) << name;
  }
}

TEST(Folding, ConcernsAsciiLettersOnly) {
  for (int value = -128; value < 128; ++value) {
    const char c = static_cast<char>(value);
    const bool capital = c >= 'A' && c <= 'Z';
    EXPECT_EQ(zip::folded(c), capital ? static_cast<char>(c + 32) : c) << value;
  }
  EXPECT_EQ(zip::folded_copy("Layer_0.WEIGHT[@]`{"), "layer_0.weight[@]`{");
  EXPECT_EQ(zip::folded_copy("\xc3\x84"), "\xc3\x84");
}

TEST(Folding, EqualityNeedsEqualLengths) {
  EXPECT_TRUE(zip::equal_folded("", ""));
  EXPECT_TRUE(zip::equal_folded("aBc", "AbC"));
  EXPECT_FALSE(zip::equal_folded("abc", "ab"));
  EXPECT_FALSE(zip::equal_folded("ab@", "ab`"));
}

}  // namespace
}  // namespace onnxar::testing
