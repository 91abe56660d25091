// The catalogue of codes, and the texts of errors and findings.
#include "onnxar/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "os/names.h"

namespace onnxar::testing {
namespace {

const std::vector<Code>& all_codes() {
  static const std::vector<Code> codes = {
#define ONNXAR_CODE(identifier, id, kind) Code::identifier,
#include "onnxar/error_codes.inc"
#undef ONNXAR_CODE
  };
  return codes;
}

std::string with_underscores(std::string_view id) {
  std::string text(id);
  for (char& c : text) c = c == '.' ? '_' : c;
  return text;
}

TEST(ErrorPath, HidesSecretsOfAddresses) {
  const auto shown = [](const char* path) { return Error(Code::io_failed, "", {}, path).path(); };
  EXPECT_EQ(shown("ftp://user:PASS@WORD@host/a@b?token=secret"), "ftp://host/a@b");
  EXPECT_EQ(shown("gs://user:secret@bucket"), "gs://bucket");
  EXPECT_EQ(shown("https://host/a?X-Signature=a/b@c"), "https://host/a");
  EXPECT_EQ(shown("user@host/a?b"), "user@host/a?b");
  const Error error = Error(Code::io_failed, "cannot open").with_path("s3://key:secret@host/a");
  EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
}

TEST(Catalogue, IdsAreUniqueLowerCaseWordsWithDots) {
  const std::regex form("[a-z][a-z0-9]*(\\.[a-z][a-z0-9_]*){1,2}");
  std::set<std::string_view> ids;
  for (const Code code : all_codes()) {
    EXPECT_TRUE(ids.insert(id(code)).second) << id(code);
    EXPECT_TRUE(std::regex_match(std::string(id(code)), form)) << id(code);
  }
  EXPECT_FALSE(ids.empty());
}

// A caller may cast any number, or get a code from a later version.
TEST(Catalogue, NumberThatNoCodeHasIsUnknown) {
  for (const unsigned number : {static_cast<unsigned>(all_codes().size()), 60000U, 65535U}) {
    EXPECT_EQ(id(static_cast<Code>(number)), "unknown");
    EXPECT_EQ(kind(static_cast<Code>(number)), Kind::usage);
    EXPECT_STREQ(Error(static_cast<Code>(number), "words").what(), "words");
  }
  EXPECT_EQ(to_string(static_cast<Severity>(77)), "error");
  EXPECT_EQ(to_string(Finding{static_cast<Severity>(77), static_cast<Code>(60000), {}, "words"}),
            "error[unknown] words");
}

TEST(Catalogue, IdentifiersFollowTheIds) {
#define ONNXAR_CODE(identifier, id, kind)                                              \
  {                                                                                    \
    const bool external = std::string_view(id).starts_with("onnx.external_data.");     \
    EXPECT_TRUE(external ? std::string_view(#identifier).starts_with("onnx_external_") \
                         : std::string_view(#identifier) == with_underscores(id))      \
        << #identifier << ' ' << (id);                                                 \
  }
#include "onnxar/error_codes.inc"
#undef ONNXAR_CODE
}

TEST(Catalogue, KindsFollowTheFirstWord) {
  for (const Code code : all_codes()) {
    const std::string_view name = id(code);
    const bool call = name.starts_with("usage.") || name.starts_with("output.") || code == Code::remote_address;
    EXPECT_EQ(kind(code) == Kind::usage, call) << name;
    const bool other = name.starts_with("remote.") && !call;                              // another machine
    const bool machine = name.starts_with("io.") || other || code == Code::archive_busy;  // held by another process
    EXPECT_EQ(kind(code) == Kind::io, machine) << name;
  }
}

TEST(Catalogue, IdsThatOthersRelyOnKeepTheirNames) {
  EXPECT_EQ(id(Code::zip_entry_overlap), "zip.entry.overlap");
  EXPECT_EQ(id(Code::archive_model_missing), "archive.model.missing");
  EXPECT_EQ(id(Code::onnx_external_bad_offset), "onnx.external_data.bad_offset");
  EXPECT_EQ(kind(Code::output_exists), Kind::usage);
  EXPECT_EQ(kind(Code::io_disk_full), Kind::io);
  EXPECT_EQ(kind(Code::zip_data_crc), Kind::format);
  EXPECT_EQ(kind(Code::archive_entry_unused), Kind::remark);
}

TEST(Error, LineNamesPathEntryOffsetAndSentence) {
  const Error error(Code::zip_entry_gap, "bytes that belong to no entry", {"w", 0x40}, "dir/a.onnxar");
  EXPECT_STREQ(error.what(), "dir/a.onnxar: entry \"w\" at 0x40: bytes that belong to no entry");
  EXPECT_EQ(error.code(), Code::zip_entry_gap);
  EXPECT_EQ(error.message(), "bytes that belong to no entry");
  EXPECT_EQ(error.entry(), "w");
  EXPECT_EQ(error.offset(), 0x40U);
  EXPECT_EQ(error.path(), "dir/a.onnxar");
}

TEST(Error, LineOmitsWhatIsNotKnown) {
  EXPECT_STREQ(Error(Code::io_failed, "sentence").what(), "sentence");
  EXPECT_STREQ(Error(Code::io_failed, "sentence", {"w", std::nullopt}).what(), "entry \"w\": sentence");
  EXPECT_STREQ(Error(Code::io_failed, "sentence", {"", 16}).what(), "at 0x10: sentence");
  EXPECT_STREQ(Error(Code::io_failed, "sentence", {}, "p").what(), "p: sentence");
}

// The path keeps letters of every script.
TEST(Error, LineEscapesPathAndEntry) {
  const Error error(Code::io_failed, "sentence", {"a\x1b[2J", std::nullopt}, "b\n.onnxar");
  EXPECT_STREQ(error.what(), "b\\x0a.onnxar: entry \"a\\x1b[2J\": sentence");
  EXPECT_EQ(error.entry(), "a\x1b[2J");
  EXPECT_EQ(error.path(), "b\n.onnxar");
  const std::string name = "gr\xc3\xb6\xc3\x9f";
  EXPECT_EQ(Error(Code::io_failed, "sentence", {}, os::path_of(name)).what(), name + ": sentence");
}

TEST(Error, LongNamesAreCutInTheLine) {
  const Error error(Code::io_failed, "sentence", {std::string(5000, 'n'), std::nullopt});
  EXPECT_LT(std::string_view(error.what()).size(), 260U);
  EXPECT_EQ(error.entry().size(), 5000U);
}

TEST(Error, PathIsAddedWhereNoneIsNamed) {
  const Error inner(Code::zip_end_missing, "sentence", {"w", 7});
  const Error outer = inner.with_path("a");
  EXPECT_STREQ(outer.what(), "a: entry \"w\" at 0x7: sentence");
  EXPECT_EQ(outer.code(), Code::zip_end_missing);
  EXPECT_EQ(outer.with_path("b").path(), "a");
}

TEST(Error, FindingHasTheSameText) {
  const Finding finding = Error(Code::zip_entry_gap, "sentence", {"w", 0x40}, "a").finding();
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_EQ(finding.code, Code::zip_entry_gap);
  EXPECT_EQ(to_string(finding), "error[zip.entry.gap] entry \"w\" at 0x40: sentence");
}

const std::vector<Hint>& all_hints() {
  static const std::vector<Hint> hints = {
#define ONNXAR_HINT(identifier, id, cpp, c, command, python) Hint::identifier,
#include "onnxar/error_hints.inc"
#undef ONNXAR_HINT
  };
  return hints;
}

TEST(Hints, IdsAreUniqueAndEachHasWords) {
  const std::regex form("[a-z]+(\\.[a-z_]+)+");
  std::set<std::string_view> ids;
  for (const Hint hint : all_hints()) {
    EXPECT_TRUE(ids.insert(id(hint)).second) << id(hint);
    EXPECT_TRUE(std::regex_match(std::string(id(hint)), form)) << id(hint);
    EXPECT_NE(to_string(Advice{hint}), "") << id(hint);
  }
  EXPECT_EQ(id(Hint::overwrite), "output.overwrite");
}

TEST(Hints, NoneAndUnknownNumbersSayNothing) {
  for (const Hint hint : {Hint::none, static_cast<Hint>(all_hints().size() + 1), static_cast<Hint>(255)}) {
    EXPECT_EQ(id(hint), "");
    EXPECT_EQ(to_string(Advice{hint, "value"}), "");
  }
}

TEST(Hints, ValueFillsEveryPlaceholder) {
  EXPECT_EQ(filled("{} and {}", {Hint::overwrite, "a{}"}), "a{} and a{}");
  EXPECT_EQ(filled("none", {Hint::overwrite, "a"}), "none");
  EXPECT_EQ(to_string(Advice{Hint::max_expansion_of, "12"}), "if you trust it, raise the limit: max_expansion = 12");
}

// A caller may pass other words, or none.
TEST(Error, LineEndsWithAdviceInWordsOfTheInterface) {
  const Error error(Code::output_exists, "sentence", {}, "a", {Hint::pack_it});
  EXPECT_STREQ(error.what(), "a: sentence; `pack` makes an archive of it");
  EXPECT_EQ(error.line("press the key"), "a: sentence; press the key");
  EXPECT_EQ(error.line(""), "a: sentence");
  EXPECT_EQ(error.message(), "sentence");
  EXPECT_EQ(error.advice().hint, Hint::pack_it);
  const Finding finding = error.finding();
  EXPECT_EQ(to_string(finding), "error[output.exists] sentence; `pack` makes an archive of it");
  EXPECT_EQ(to_string(finding, "press the key"), "error[output.exists] sentence; press the key");
  EXPECT_EQ(error.with_path("b").advice().hint, Hint::pack_it);
  EXPECT_EQ(Error(Code::io_failed, "s", {}, {}, {Hint::pack_it}).with_path("b").advice().hint, Hint::pack_it);
}

TEST(Finding, LineNamesSeverityAndId) {
  const Finding warning{Severity::warning, Code::zip_zip64_unneeded, {"a\nb", std::nullopt}, "sentence"};
  EXPECT_EQ(to_string(warning), "warning[zip.zip64.unneeded] entry \"a\\x0ab\": sentence");
  EXPECT_EQ(to_string(Severity::error), "error");
  EXPECT_EQ(to_string(Severity::note), "note");
}

TEST(Escaped, IsPrintableAsciiWithUnambiguousEscapes) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", ""},
      {"layer.0/weight ~!", "layer.0/weight ~!"},
      {"\\x1b", "\\\\x1b"},
      {"\xc3\xb6\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "\\u00f6\\u00df \\u20ac \\U0001f600"},
      {"a\xe2\x80\xae.b", "a\\u202e.b"},  // reverses the text after it
      {"\xc2\x80", "\\u0080"},
      {"\xc2\x9b[2J", "\\u009b[2J"},  // CSI: terminals obey it like ESC [
      {"\xc2\xa0", "\\u00a0"},
      {"a\xff.b", "a\\xff.b"},
      {"\xc0\xaf", "\\xc0\\xaf"},           // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // a surrogate
      {"\xe2\x82", "\\xe2\\x82"},           // cut short
      {"\xe2\x82z", "\\xe2\\x82z"},
  };
  for (const auto& [text, written] : rows) EXPECT_EQ(escaped(text), written);
}

TEST(Escaped, DifferentNamesLookDifferent) {
  EXPECT_NE(escaped("\xff"), escaped("\xc3\xbf"));         // a byte, and U+00FF
  EXPECT_NE(escaped("e\xcc\x81"), escaped("\xc3\xa9"));    // e and a combining accent, and U+00E9
  EXPECT_NE(escaped("\\u202e"), escaped("\xe2\x80\xae"));  // the letters, and the character
  EXPECT_NE(escaped("\xd0\xb0"), escaped("a"));            // the Cyrillic letter
}

TEST(Escaped, EveryControlCharacterIsWrittenInHex) {
  for (unsigned value = 0; value < 0x80; ++value) {
    const std::string text(1, static_cast<char>(value));
    const bool printable = value >= 0x20 && value < 0x7f && value != '\\';
    EXPECT_EQ(escaped(text).size(), printable ? 1U : (value == '\\' ? 2U : 4U)) << value;
  }
  EXPECT_EQ(escaped(std::string_view("\0\x1b\x7f\n", 4)), "\\x00\\x1b\\x7f\\x0a");
}

TEST(EscapedPath, KeepsLettersAndEscapesInvisibleCharacters) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"/home/gr\xc3\xb6\xc3\x9f/\xe6\xa8\xa1\xe5\x9e\x8b \xf0\x9f\x98\x80.onnx",
       "/home/gr\xc3\xb6\xc3\x9f/\xe6\xa8\xa1\xe5\x9e\x8b \xf0\x9f\x98\x80.onnx"},
      {"a\x1b[31m\n", "a\\x1b[31m\\x0a"},
      {"a\xc2\x85", "a\\u0085"},
      {"\xe2\x80\xaexno.nib", "\\u202exno.nib"},  // turns the text
      {"\xe2\x80\x8b\xef\xbb\xbf\xf3\xa0\x80\x81", "\\u200b\\ufeff\\U000e0001"},
      {"a\xe3\x85\xa4", "a\\u3164"},  // ignorable: a Hangul filler
      {"a\xcd\x8f", "a\\u034f"},      // a joiner of graphemes
      {"a\xef\xb8\x8f", "a\\ufe0f"},  // a variation selector
      {"\xf0\x9d\x85\xb3", "\\U0001d173"},
      {"\xf3\xa0\x84\x80", "\\U000e0100"},
  };
  for (const auto& [name, written] : rows) EXPECT_EQ(escaped_path(os::path_of(name)), written);
}

TEST(EscapedPath, OfSeveralPartsIsAsItWasTyped) {
  const std::string separator(1, static_cast<char>(std::filesystem::path::preferred_separator));
  EXPECT_EQ(escaped_path(std::filesystem::path("models") / "a.onnx"), "models" + separator + "a.onnx");
  EXPECT_EQ(escaped_path("models/a.onnx"), "models/a.onnx");
}

TEST(EscapedPath, LongerThanAnySystemHasIsCut) {
  const std::string whole(4096, 'p');
  EXPECT_EQ(escaped_path(whole), whole);
  EXPECT_EQ(escaped_path(whole + "q"), whole + "... (4097 bytes)");
}

TEST(Finding, OfAnEntryWithALongNameIsAShortLine) {
  const Finding finding{Severity::error, Code::zip_entry_gap, {std::string(1U << 20U, 'n'), 64}, "sentence"};
  const std::string line = to_string(finding);
  EXPECT_LT(line.size(), 300U);
  EXPECT_NE(line.find("...\" (1048576 bytes) at 0x40: sentence"), std::string::npos) << line;
}

}  // namespace
}  // namespace onnxar::testing
