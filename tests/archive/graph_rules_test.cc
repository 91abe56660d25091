// G3 and G4: what the metadata of graphs may say.
#include "archive/graph_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Blob with_names(const std::vector<std::string>& names) {
  Messages metadata = {string_entry("author", "a")};
  for (const std::string& name : names) metadata.push_back(string_entry("onnxar.model.name", name));
  return model({.metadata = metadata}).view();
}

/// The message about the model's name in an archive with these entries; empty if it may have it.
std::string fault_of(const Blob& model, const std::vector<std::string_view>& entries = {}) {
  const auto fault = model_name_fault(model, entries);
  if (!fault) return {};
  EXPECT_EQ(fault->code, Code::archive_graph_name);
  return fault->message;
}

TEST(GraphRules, AModelHasOneNameOrNone) {
  EXPECT_EQ(fault_of(with_names({})), "");
  EXPECT_EQ(fault_of(with_names({"encoder"})), "");
  EXPECT_THAT(fault_of(with_names({"encoder", "decoder"})), HasSubstr("twice"));
  EXPECT_THAT(model_names_of(with_names({"b", "a"})), ElementsAre("b", "a"));
}

TEST(GraphRules, ModelNameIsThatOfAFile) {
  EXPECT_THAT(fault_of(with_names({""})), HasSubstr("is empty"));
  EXPECT_EQ(fault_of(with_names({"a/b"})), "");
  EXPECT_THAT(fault_of(with_names({"a/"})), HasSubstr("nothing after its last slash"));
  EXPECT_NE(fault_of(with_names({"a//b"})), "");
  EXPECT_THAT(fault_of(with_names({"__X"})), HasSubstr("begins like a reserved name"));
  EXPECT_NE(fault_of(with_names({"a\\b"})), "");
}

TEST(GraphRules, TheNameOfTheModelClashesWithNoEntry) {
  EXPECT_THAT(fault_of(with_names({"encoder"}), {"w", "Encoder.onnx"}), HasSubstr("differs from \"Encoder.onnx\""));
  EXPECT_THAT(fault_of(with_names({"encoder"}), {"encoder.onnx"}), HasSubstr("two entries have this name"));
  EXPECT_THAT(fault_of(with_names({"encoder"}), {"w", "Encoder.onnx/a.txt"}),
              HasSubstr("\"encoder.onnx\" would have to be both a file and a folder"));
  EXPECT_THAT(fault_of(with_names({"w/encoder"}), {"W"}), HasSubstr("\"W\" would have to be both a file and a folder"));
  EXPECT_EQ(fault_of(with_names({"w/encoder"}), {"w2", "w/a.txt"}), "");
  EXPECT_EQ(fault_of(with_names({"encoder"}), {"w", "decoder.onnx", "encoder", "encoder.onnx.txt"}), "");
  EXPECT_EQ(fault_of(with_names({"encoder"}), {"w", "W"}), "") << "that is not the fault of the model's name";
}

TEST(GraphRules, RefusesModelNameThatIsTaken) {
  const std::vector<std::string_view> names = {"encoder.onnx"};
  const auto refuse = [&](const std::string& name) {
    return error_if_any([&] { expect_free_model_name(with_names({name}), names, "a", {Hint::unpack_unnamed}); });
  };
  expect_error(refuse("encoder"),
               {.code = Code::archive_graph_name, .entry = model_entry, .path = "a", .hint = Hint::unpack_unnamed});
  EXPECT_FALSE(refuse("decoder"));
}

TEST(GraphRules, AFaultIsAtTheFieldThatHasIt) {
  const Blob model = with_names({"a", "b"});
  const auto fault = model_name_fault(model, {});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->offset, place_in(model, string_entry("onnxar.model.name", "b")) - 2) << "tag and length come first";
}

TEST(GraphRules, ReadingGoesOnWithoutANameThatNoFileCanHave) {
  EXPECT_EQ(model_name_of(with_names({"a", "b"})), "a");
  EXPECT_EQ(model_name_of(with_names({"a/"})), std::nullopt);
  EXPECT_EQ(model_name_of(with_names({})), std::nullopt);
}

TEST(GraphRules, AGraphIsNotALink) {
  EXPECT_FALSE(link_marker_fault(with_names({"a"})));
  const auto fault = link_marker_fault(model({.metadata = {string_entry("onnxar.link.size", "1")}}).view());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, Code::archive_graph_link_marker);
  EXPECT_THAT(fault->message, HasSubstr("\"onnxar.link.size\""));
}

}  // namespace
}  // namespace onnxar::testing
