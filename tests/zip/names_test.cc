// Which names are allowed: one rule a test.
#include "zip/names.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "onnxar/bytes.h"
#include "support/guarded_buffer.h"
#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// Returns the fault of a name. Names are plain if they have neither a fault nor a slash.
std::optional<Code> fault(std::string_view name) {
  const auto found = zip::name_fault(name);
  EXPECT_EQ(zip::is_plain_name(name), !found && name.find('/') == std::string_view::npos) << name;
  if (!found) return std::nullopt;
  EXPECT_FALSE(found->message.empty());
  return found->code;
}

TEST(NameFault, OrdinaryNamesHaveNone) {
  for (const std::string_view name :
       {"w", "layer_0_weight", "__MODEL_PROTO", "tokenizer.json", "a/b/c.txt", "a b", "-", ".hidden", " a", "a..b",
        "..a", "1", "~", "a=b,c", "[0]{1}(2)", "#1 +2 @3 $4 %5 ^6 &7 !8 `9`", "it's"}) {
    EXPECT_EQ(fault(name), std::nullopt) << name;
  }
}

// The loop over the characters is unrolled, so each position in a turn and after the last one is tested.
TEST(NameFault, AFaultIsSeenAtAnyPlaceOfANameOfAnyLength) {
  for (std::size_t length = 1; length < 30; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      std::string name(length, 'n');
      EXPECT_EQ(fault(name), std::nullopt);
      name[place] = ';';
      EXPECT_EQ(fault(name), Code::zip_name_character) << name;
    }
  }
}

/// A name of so many bytes with parts that are not too long.
std::string path_of(std::size_t length) {
  std::string name(length, 'n');
  for (std::size_t slash = 200; slash + 1 < length; slash += 200) name[slash] = '/';
  return name;
}

TEST(NameFault, NamesEndAt1024Bytes) {
  EXPECT_EQ(fault(path_of(1024)), std::nullopt);
  EXPECT_EQ(fault(path_of(1025)), Code::zip_name_too_long);
  EXPECT_EQ(fault(std::string(65000, 'n')), Code::zip_name_too_long);
}

// Readers treat the others differently: unzip removes ";1", bsdtar joins names that differ in Unicode normalization,
// listings reverse the text after U+202E, and Windows takes a stream name after a colon.
TEST(NameFault, EveryCharacterOutsidePortableAsciiIsRefused) {
  const std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,+=!#%&()@^~`{}[]$' /";
  for (int value = 0; value < 256; ++value) {
    const std::string name = {'w', static_cast<char>(value), 'w'};
    const bool fine = allowed.find(static_cast<char>(value)) != std::string_view::npos;
    EXPECT_EQ(fault(name), fine ? std::nullopt : std::optional(Code::zip_name_character)) << value;
  }
}

TEST(NameFault, FurtherNamesThanThoseOfTheVectorsAreRefused) {
  const std::pair<Code, std::vector<std::string>> refused[] = {
      {Code::zip_name_absolute, {"//a"}},
      {Code::zip_name_directory, {"a/", "a/b/"}},
      {Code::zip_name_part, {"../a", "a/../b", "a/."}},
      {Code::zip_name_part_end, {" ", "x/a.", "x/ /y", "x/a. "}},
      {Code::zip_name_device,
       {"PRN", "Aux", "nul", "com9", "lpt0", "nul.tar.gz", "con .txt", "a/com1.bin", "prn/x", "CONIN$", "conout$.x"}},
  };
  for (const auto& [code, names] : refused) {
    for (const std::string& name : names) EXPECT_EQ(fault(name), code) << name;
  }
}

TEST(NameFault, PartsEndAt255Bytes) {
  const std::string longest(255, 'n');
  for (const std::string& name : {longest, base::concat(longest, "/", longest), base::concat("a/", longest, "/b")}) {
    EXPECT_EQ(fault(name), std::nullopt);
  }
  for (const std::string& name :
       {longest + "n", longest + ".", longest + "n/b", "a/" + longest + "n", "a.b/n" + longest}) {
    EXPECT_EQ(fault(name), Code::zip_name_part_too_long) << name;
  }
}

TEST(NameFault, NamesThatAreNearlyDevicesAreFine) {
  for (const std::string_view name :
       {"cons", "com", "com10", "coma", "lpt", "conin", "$con", "_nul", "a.nul", "xcon"}) {
    EXPECT_EQ(fault(name), std::nullopt) << name;
  }
}

// A foreign reader writes no such names, so it only refuses what other readers take for another entry.
TEST(UnreadableNameFault, NamesThatBreakTheRulesOfArchivesOnlyAreRead) {
  for (const std::string_view name : {"onnx::Conv_1", "weights;1", "gr\xc3\xb6\xc3\x9f", "a.", "con", "C:x", "w"}) {
    EXPECT_FALSE(zip::unreadable_name_fault(name)) << name;
  }
  EXPECT_FALSE(zip::unreadable_name_fault(std::string(1024, 'n')));
}

TEST(UnreadableNameFault, NamesThatReadersTakeForOthersAreRefused) {
  const std::pair<std::string, Code> names[] = {
      {"", Code::zip_name_empty},
      {std::string(1025, 'n'), Code::zip_name_too_long},
      {"\xff", Code::zip_name_character},
      {"\xc0\xaf", Code::zip_name_character},
      {"a\nb", Code::zip_name_character},
      {std::string("a\0b", 3), Code::zip_name_character},
      {"w\xc2\x9b"
       "2J",
       Code::zip_name_character},
      {"a\\b", Code::zip_name_character},
      {"/a", Code::zip_name_absolute},
      {"a/", Code::zip_name_directory},
      {"../a", Code::zip_name_part},
      {"a//b", Code::zip_name_part},
  };
  for (const auto& [name, code] : names) {
    const auto found = zip::unreadable_name_fault(name);
    ASSERT_TRUE(found) << escaped(name);
    EXPECT_EQ(found->code, code) << escaped(name);
  }
}

TEST(FoldedNames, EqualityNeedsEqualLengths) {
  EXPECT_TRUE(zip::equal_folded("", ""));
  EXPECT_TRUE(zip::equal_folded("aBc", "AbC"));
  EXPECT_FALSE(zip::equal_folded("abc", "ab"));
  EXPECT_FALSE(zip::equal_folded("ab@", "ab`"));
}

TEST(CheckName, ThrowsTheFirstFaultAtTheGivenPlace) {
  zip::check_name("a/b", {"a/b", 5});
  EXPECT_EQ(refusal_of([] { zip::check_name("a/", {"a/", 5}); }), (ErrorContext{Code::zip_name_directory, "a/", 5}));
}

TEST(NameFault, NoByteBeforeAShortNameIsRead) {
  for (std::size_t length = 1; length < 20; ++length) {
    const GuardedBuffer name = GuardedBuffer::starting_after_guard(blob(std::string(length, 'n')));
    EXPECT_EQ(fault(as_text(name.bytes())), std::nullopt);
  }
}

TEST(NameWithoutOmissions, EveryPartKeepsAllButItsEnd) {
  EXPECT_EQ(zip::name_without_omissions("ab/cd./ef ./g;12"), "ab/cd/ef/g");
  EXPECT_EQ(zip::name_without_omissions("c:/d:ab/.c"), "ab/.c");
}

TEST(NameWithoutOmissions, NamesOfNothingElseBecomeEmpty) {
  EXPECT_EQ(zip::name_without_omissions(";1"), "");
  EXPECT_EQ(zip::name_without_omissions("c:"), "");
  EXPECT_EQ(zip::name_without_omissions("c:d"), "d");
}

}  // namespace
}  // namespace onnxar::testing
