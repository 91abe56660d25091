// New names for entries.
#include "archive/renames.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "onnxar/archive_writer.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

std::optional<ErrorContext> refusal_of_names(const std::vector<RenamedEntry>& list) {
  return refusal_of([&] { return Renames(list).empty(); });
}

TEST(Renames, MapRenamedNamesAndReturnOthersUnchanged) {
  const std::vector<RenamedEntry> list = {{"a.txt", "b.txt"}, {"c:d", "d/e.txt"}};
  Renames renames(list);
  EXPECT_FALSE(renames.empty());
  EXPECT_EQ(renames("a.txt"), "b.txt");
  EXPECT_EQ(renames("c:d"), "d/e.txt");
  EXPECT_EQ(renames("b.txt"), "b.txt");
  renames.expect_all_met("entry");
}

TEST(Renames, AnOldNameThatIsNotThereIsRefused) {
  const std::vector<RenamedEntry> list = {{"a.txt", "b.txt"}};
  const Renames renames(list);
  EXPECT_EQ(code_of([&] { renames.expect_all_met("entry"); }), Code::usage_argument);
}

TEST(Renames, RefuseOneOldNameTwice) {
  EXPECT_EQ(refusal_of_names({{"a.txt", "b.txt"}, {"a.txt", "c.txt"}})->code, Code::usage_argument);
}

TEST(Renames, RefuseInvalidNewNames) {
  EXPECT_EQ(refusal_of_names({{"a.txt", "b:c"}}), (ErrorContext{Code::zip_name_character, "b:c", {}}));
  EXPECT_EQ(refusal_of_names({{"a.txt", "__Meta"}}), (ErrorContext{Code::archive_name_reserved, "__Meta", {}}));
  EXPECT_EQ(refusal_of_names({{"a.txt", "key"}}), (ErrorContext{Code::usage_argument, "key", {}}));
}

}  // namespace
}  // namespace onnxar::testing
