// Tests what happens to side files and further graphs when a model is converted.
#include "convert/companions_to_save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/save.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

class CompanionNamesTest : public ::testing::Test {
 protected:
  static ArchiveCompanions companions(const std::vector<std::string>& side_files,
                                      const std::vector<RenamedEntry>& renames = {}) {
    LoadedModel model;
    for (const std::string& name : side_files) model.side_files.push_back({name, nullptr});
    SaveOptions options;
    options.add = {{"d.onnx", {}, std::make_shared<SpanSource>(Bytes())}};
    options.rename = renames;
    return companions_to_save(model, options, "out");
  }
  static std::optional<ErrorContext> refused(const std::string& from, const std::string& to) {
    return refusal_of([&] { return companions({"a.txt"}, {{from, to}}); });
  }
  static std::optional<Code> code_of_check(const std::vector<std::string>& side_files) {
    return code_of([&] { return companions(side_files); });
  }
};

TEST_F(CompanionNamesTest, SideFilesAndGraphsGetTheirNewNames) {
  const std::vector<RenamedEntry> renames = {{"a.txt", "folder/a.txt"}, {"d.onnx", "e.onnx"}};
  EXPECT_THAT(companions({"a.txt", "b.txt"}, renames).names(), ElementsAre("folder/a.txt", "b.txt", "e.onnx"));
}

TEST_F(CompanionNamesTest, ANewNameDoesNotTurnAGraphIntoASideFileOrBack) {
  EXPECT_EQ(refused("d.onnx", "d.txt"), (ErrorContext{Code::usage_argument, "d.onnx"}));
  EXPECT_EQ(refused("a.txt", "a.onnx"), (ErrorContext{Code::usage_argument, "a.txt"}));
  EXPECT_EQ(refused("a.txt", "folder/a.onnx"), (ErrorContext{Code::usage_argument, "a.txt"}));
  EXPECT_EQ(refused("d.onnx", "folder/a.onnx"), std::nullopt);
  EXPECT_EQ(refused("a.txt", "folder/.onnx"), std::nullopt) << "a suffix alone is no graph";
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
  EXPECT_EQ(code_of_check({"__model_proto/b"}), Code::zip_name_prefix) << "the model is a file";
}

}  // namespace
}  // namespace onnxar::testing
