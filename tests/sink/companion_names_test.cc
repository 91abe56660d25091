#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sink/side_files.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

class CompanionNamesTest : public ::testing::Test {
 protected:
  static ArchiveCompanions companions(const std::vector<std::string>& side_files) {
    ArchiveCompanions made;
    for (const std::string& name : side_files) made.side_files.push_back({name, nullptr});
    made.whole_graphs.push_back({"d.onnx", nullptr});
    return made;
  }
  static std::optional<Code> code_of_check(const std::vector<std::string>& side_files) {
    return code_of([&] { check_names(companions(side_files)); });
  }
  static std::optional<ErrorContext> refused(const std::string& from, const std::string& to) {
    return refusal_of([&] {
      ArchiveCompanions renamed = companions({"a.txt"});
      rename(renamed, {{from, to}});
      return true;
    });
  }
};

TEST_F(CompanionNamesTest, SideFilesAndGraphsGetTheirNewNames) {
  ArchiveCompanions renamed = companions({"a.txt", "b.txt"});
  rename(renamed, {{"a.txt", "folder/a.txt"}, {"d.onnx", "e.onnx"}});
  EXPECT_THAT(renamed.names(), ElementsAre("folder/a.txt", "b.txt", "e.onnx"));
}

TEST_F(CompanionNamesTest, ANewNameDoesNotTurnAGraphIntoASideFileOrBack) {
  EXPECT_EQ(refused("d.onnx", "d.txt"), (ErrorContext{Code::usage_argument, "d.onnx"}));
  EXPECT_EQ(refused("a.txt", "a.onnx"), (ErrorContext{Code::usage_argument, "a.txt"}));
  EXPECT_EQ(refused("a.txt", "folder/a.onnx"), std::nullopt) << "only a file in the root is a graph";
}

TEST_F(CompanionNamesTest, AnOldNameThatNoFileHasIsRefused) {
  EXPECT_EQ(refused("missing.txt", "x.txt")->code, Code::usage_argument);
}

TEST_F(CompanionNamesTest, NamesThatTheWriterWouldRefuseAreRefusedBefore) {
  EXPECT_EQ(code_of_check({"a.txt", "folder/b.txt"}), std::nullopt);
  EXPECT_EQ(code_of_check({"__MODEL_PROTO"}), Code::archive_name_reserved);
  EXPECT_EQ(code_of_check({"../a.txt"}), Code::zip_name_part);
  EXPECT_EQ(code_of_check({"a.txt", "a.txt"}), Code::zip_name_duplicate);
  EXPECT_EQ(code_of_check({"a.txt", "A.txt"}), Code::zip_name_folded);
  EXPECT_EQ(code_of_check({"a.txt", "a.txt/b"}), Code::zip_name_prefix);
}

}  // namespace
}  // namespace onnxar::testing
