// Names of files that entries cannot have: the first fault decides the code, and each name gets a valid proposal.
#include "convert/entry_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using NameViews = std::vector<std::string_view>;

std::optional<Error> refusal(const NameViews& names, std::size_t kept = 0) {
  return error_if_any([&] { check_entry_names(names, kept); });
}

TEST(EntryNames, FaultHasItsCodeNameAndProposal) {
  struct Row {
    std::string_view name;
    Code code;
    std::string_view proposal;
  };
  const std::string long_part = std::string(300, 'n') + ".md";
  const std::string shortened = std::string(200, 'n') + ".md";
  const Row rows[] = {
      {"../a.txt", Code::zip_name_part, "file/a.txt"},
      {"a/./b.txt", Code::zip_name_part, "a/file/b.txt"},
      {"a\\b.txt", Code::zip_name_character, "a_b.txt"},
      {"con.txt", Code::zip_name_device, "_con.txt"},
      {"a/NUL", Code::zip_name_device, "a/_NUL"},
      {"__MODEL_PROTO", Code::archive_name_reserved, "___MODEL_PROTO.txt"},
      {"__Other", Code::archive_name_reserved, "___Other.txt"},
      {"weights", Code::usage_argument, "weights.txt"},
      {long_part, Code::zip_name_part_too_long, shortened},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto error = refusal({row.name});
    expect_error(error, {.code = row.code, .entry = row.name, .hint = Hint::rename_entries});
    ASSERT_TRUE(error);
    EXPECT_THAT(error->advice().value, HasSubstr("=" + std::string(row.proposal)));
    EXPECT_FALSE(refusal({row.proposal})) << row.proposal;
  }
  EXPECT_FALSE(refusal({"README"})) << "a text that often lies beside models";
}

TEST(EntryNames, ClashIsRefusedAtTheLaterName) {
  expect_error(refusal({"a.txt", "a.txt"}), {.code = Code::zip_name_duplicate, .entry = "a.txt"});
  expect_error(refusal({"a.txt", "A.txt"}), {.code = Code::zip_name_folded, .entry = "A.txt"});
  expect_error(refusal({"a.txt", "a.txt/b.md"}), {.code = Code::zip_name_prefix, .entry = "a.txt/b.md"});
  EXPECT_EQ(refusal({"a.txt", "A.txt"})->advice().value, "A.txt=A_2.txt");
  EXPECT_EQ(refusal({"a.txt", "a.txt/b.md"})->advice().value, "a.txt/b.md=a.txt_2/b.md");
}

TEST(EntryNames, ProposalsDifferFromEachOtherAndAllNames) {
  const auto error = refusal({"a_b.txt", "a:b.txt", "a|b.txt"});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->advice().value, "a:b.txt=a_b_2.txt, a|b.txt=a_b_3.txt");
  EXPECT_THAT(error->message(), HasSubstr("the name \"a|b.txt\" is also refused"));
}

TEST(EntryNames, KeptNamesAreNotProvedButClash) {
  EXPECT_FALSE(refusal({"weight", "a.txt"}, 1));
  expect_error(refusal({"weight", "Weight"}, 1), {.code = Code::usage_argument, .entry = "Weight"});
  expect_error(refusal({"a.txt", "A.txt"}, 1), {.code = Code::zip_name_folded, .entry = "A.txt"});
}

TEST(EntryNames, NameThatNoRenameCanStateHasNoProposal) {
  const auto error = refusal({"a=b:c.txt"});
  expect_error(error, {.code = Code::zip_name_character, .entry = "a=b:c.txt", .hint = Hint::none});
  EXPECT_THAT(error->message(), HasSubstr("rename the file, or leave it out"));
}

TEST(EntryNames, HostileNumberOfNamesIsAShortMessage) {
  std::vector<std::string> storage;
  for (int i = 0; i < 10'000; ++i) storage.push_back("a:" + std::to_string(i) + ".txt");
  const auto error = refusal({storage.begin(), storage.end()});
  ASSERT_TRUE(error);
  EXPECT_LT(error->message().size(), 5000U);
  EXPECT_THAT(error->message(), HasSubstr("and 9980 more names"));
  EXPECT_THAT(error->advice().value, Not(HasSubstr("a_20.txt")));
}

}  // namespace
}  // namespace onnxar::testing
