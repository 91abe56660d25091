#include "convert/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model_source.h"
#include "onnxar/convert.h"
#include "os/names.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ModelFolderTest : public ::testing::Test {
 protected:
  void put(const std::string& name) {
    fs::create_directories((folder_ / name).parent_path());
    folder_.write_file(name, pattern(3));
  }
  [[nodiscard]] fs::path path() const { return folder_ / "export"; }
  [[nodiscard]] std::vector<std::string> models() const { return ModelFolder::read(path()).models(); }
  [[nodiscard]] std::vector<std::string> side_files(const base::KeyedSet<std::string>& data = {},
                                                    const fs::path& output = {}) const {
    std::vector<std::string> names;
    for (const SideFile& file : ModelFolder::read(path()).side_files(data, output)) names.push_back(file.name);
    return names;
  }

  TempDir folder_;
};

TEST_F(ModelFolderTest, AFolderIsOneUnlessPyTorchExportedIt) {
  put("export/model.onnx");
  EXPECT_TRUE(ModelFolder::is_one(path()));
  EXPECT_FALSE(ModelFolder::is_one(path() / "model.onnx"));
  EXPECT_FALSE(ModelFolder::is_one(folder_ / "nothing"));
  EXPECT_FALSE(ModelFolder::is_one({}));
  put("export/__MODEL_PROTO");
  EXPECT_FALSE(ModelFolder::is_one(path()));
}

TEST_F(ModelFolderTest, FindsModelsAtAnyDepth) {
  for (const std::string name : {"z.onnx", "b.onnx", "deep/c.onnx", "d.ONNX", "deep/er/.onnx"}) put("export/" + name);
  EXPECT_THAT(models(), ElementsAre("b.onnx", "deep/c.onnx", "z.onnx"));
  EXPECT_THAT(side_files(), ElementsAre("d.ONNX"));
}

TEST_F(ModelFolderTest, PutsExpectedModelFirst) {
  for (const std::string name : {"a/b.onnx", "onnx/model_q4.onnx"}) put("export/" + name);
  EXPECT_THAT(models(), ElementsAre("a/b.onnx", "onnx/model_q4.onnx"));
  put("export/onnx/model.onnx");
  EXPECT_THAT(models(), ElementsAre("onnx/model.onnx", "a/b.onnx", "onnx/model_q4.onnx"));
  put("export/z.onnx");
  EXPECT_THAT(models(), ElementsAre("z.onnx", "onnx/model.onnx", "a/b.onnx", "onnx/model_q4.onnx"));
  put("export/y.onnx");
  EXPECT_THAT(models(), ElementsAre("onnx/model.onnx", "a/b.onnx", "onnx/model_q4.onnx", "y.onnx", "z.onnx"));
  put("export/model.onnx");
  EXPECT_EQ(models().front(), "model.onnx");
}

TEST_F(ModelFolderTest, DataAndTheOutputAreNoSideFiles) {
  for (const std::string name : {"m.onnx", "m.data", "sub/m.data", "out", "config.json"}) put("export/" + name);
  const std::string data = os::slashed_text_of(fs::canonical(path()) / "m.data");
  EXPECT_THAT(side_files({data}, path() / "." / "out"), ElementsAre("config.json", "sub/m.data"));
}

TEST_F(ModelFolderTest, DataInAnotherFolderDoesNotHideASideFileOfItsName) {
  for (const std::string folder : {"other", "export/data"}) {
    SCOPED_TRACE(folder);
    fs::remove_all(path());
    folder_.write_file("export/m.onnx", model_of({linked_floats("w", 300, "w.bin")}).view());
    folder_.write_file("export/w.bin", pattern(7));
    folder_.write_file(folder + "/w.bin", pattern(1200));
    pack(path(), folder_ / "out", saved_as(Format::archive, over_existing), {.external_data_dir = folder_ / folder});
    const Archive archive = Archive::open(folder_ / "out");
    ASSERT_TRUE(archive.find("w.bin"));
    EXPECT_EQ(archive.find("w.bin")->size, 7U);
    EXPECT_FALSE(archive.find("data/w.bin"));
  }
}

TEST_F(ModelFolderTest, HiddenFilesAreToldAndNothingBelowAHiddenFolder) {
  for (const std::string name : {"m.onnx", ".git/deep/config", "a/.hidden", ".onnx"}) put("export/" + name);
  EXPECT_THAT(side_files(), ElementsAre());
  const Finding remark = ModelFolder::read(path()).remark();
  EXPECT_EQ(remark.severity, Severity::note);
  EXPECT_THAT(remark.message, HasSubstr("left out: 3 with a name that begins with a dot, such as \".git\""));
  fs::remove_all(path());
  put("export/m.onnx");
  EXPECT_THAT(ModelFolder::read(path()).remark().message, Not(HasSubstr("left out")));
}

TEST_F(ModelFolderTest, AFolderWithoutModelsIsRefused) {
  put("export/onnx/m.onnx.data");
  const Error error = error_of([this] { ModelFolder::read(path()); });
  EXPECT_EQ(error.code(), Code::io_not_a_file);
  EXPECT_EQ(error.path(), path());
}

TEST_F(ModelFolderTest, AConfigurationThatListsPlacesInDataFilesIsWarnedOf) {
  const auto remark_on = [](const std::string& name, std::string_view text) {
    const std::vector<SideFile> files{{"a.json", payload_of(ByteSpan::borrow(as_bytes("{}"))).source},
                                      {name, payload_of(ByteSpan::borrow(as_bytes(text))).source}};
    return remark_on_places(files);
  };
  const auto remark = remark_on("genai_config.json", R"({"model": {"mtp": {"shared_initializers": []}}})");
  ASSERT_TRUE(remark);
  EXPECT_EQ(remark->severity, Severity::warning);
  EXPECT_EQ(remark->place.entry, "genai_config.json");
  EXPECT_FALSE(remark_on("genai_config.json", R"({"model": {}})"));
  EXPECT_FALSE(remark_on("other/genai_config.json", R"({"shared_initializers": []})"));
  EXPECT_FALSE(remark_on_places({}));
}

}  // namespace
}  // namespace onnxar::testing
