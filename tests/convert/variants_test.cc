// Variants in the manifest of an archive that is packed or edited.
#include "convert/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "archive/opened.h"
#include "convert/package_files.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// An archive with the graphs `a` and `b`, and with this manifest if it is not empty.
Built with_graphs(const std::string& manifest = "") {
  std::vector<ZipEntry> entries;
  if (!manifest.empty()) entries.push_back(zip_entry("manifest.json", blob(manifest)));
  for (const char* const name : {"a.onnx", "b.onnx"}) entries.push_back(zip_entry(name, model_of({}).view()));
  return archive_of(model_of({}), std::move(entries));
}

/// The manifest that the edit adds.
std::string added_manifest(const ReplaceOptions& options) {
  for (const AddedFile& file : options.add)
    if (file.name == "manifest.json") return package_text(*file.source);
  return "";
}

class EditedManifest : public ::testing::Test {
 protected:
  ReplaceOptions edited(const Built& built, const ReplaceOptions& options) {
    remarks_.clear();
    return with_manifest(opened(built.bytes), options, remarks_);
  }
  /// A manifest of variants of `a` and `b`.
  std::string manifest() {
    ReplaceOptions options;
    options.variants = {{"a", "cpu"}, {"b", "cuda"}};
    return added_manifest(edited(with_graphs(), options));
  }

  std::vector<Finding> remarks_;
};

TEST_F(EditedManifest, StaysIfNoVariantChanges) {
  const ReplaceOptions options = edited(with_graphs(manifest()), {});
  EXPECT_THAT(options.add, IsEmpty());
  EXPECT_THAT(options.remove, IsEmpty());
}

TEST_F(EditedManifest, LosesVariantsOfRemovedGraphs) {
  ReplaceOptions options;
  options.remove = {"a.onnx"};
  const std::string text = added_manifest(edited(with_graphs(manifest()), options));
  EXPECT_THAT(text, HasSubstr("b.onnx"));
  EXPECT_THAT(text, Not(HasSubstr("a.onnx")));
  options.remove = {"a.onnx", "b.onnx"};
  EXPECT_THAT(edited(with_graphs(manifest()), options).remove, ElementsAre("a.onnx", "b.onnx", "manifest.json"));
}

TEST_F(EditedManifest, AddedManifestIsTheOneThatIsEdited) {
  ReplaceOptions options;
  options.add = {{"manifest.json", {}, package_source(manifest())}};
  options.remove = {"a.onnx"};
  const ReplaceOptions found = edited(with_graphs(), options);
  EXPECT_EQ(found.add.size(), 1U);
  EXPECT_THAT(added_manifest(found), Not(HasSubstr("a.onnx")));
}

TEST_F(EditedManifest, RefusesVariantOfARemovedGraph) {
  ReplaceOptions options;
  options.remove = {"a.onnx"};
  options.variants = {{"a", "cpu"}};
  EXPECT_EQ(code_of([&] { return edited(with_graphs(), options); }), Code::usage_argument);
}

TEST(AddVariants, NamesGraphsOfTheNewArchive) {
  LoadedModel model;
  const Message own =
      onnxar::testing::model({.graph = graph({}), .metadata = {string_entry("onnxar.model.name", "m")}});
  model.skeleton = own.view();
  ArchiveCompanions companions;
  companions.whole_graphs = {{"g.onnx", package_source("")}};
  EXPECT_THAT(add_variants(companions, model, {}), IsEmpty());
  EXPECT_THAT(companions.side_files, IsEmpty());
  EXPECT_THAT(add_variants(companions, model, {{"m", "cpu"}, {"g", "cuda"}}), IsEmpty());
  ASSERT_EQ(companions.side_files.size(), 1U);
  EXPECT_EQ(companions.side_files[0].name, "manifest.json");
  EXPECT_THAT(package_text(*companions.side_files[0].source), HasSubstr("m.onnx"));
  EXPECT_EQ(code_of([&] { return add_variants(companions, model, {{"none", "cpu"}}); }), Code::usage_argument);
}

}  // namespace
}  // namespace onnxar::testing
