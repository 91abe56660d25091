// Tests which models and files of a folder are packed.
#include "convert/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "convert/model_source.h"
#include "onnxar/convert.h"
#include "os/names.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"

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
  [[nodiscard]] std::vector<std::string> models(const SaveOptions& save = {}) const {
    std::vector<std::string> names;
    const ModelFolder folder = ModelFolder::read(path(), save);
    for (const FolderFile& model : folder.models()) names.push_back(model.entry);
    return names;
  }
  [[nodiscard]] std::vector<std::string> side_files(const base::KeyedSet<std::string>& data = {},
                                                    const fs::path& output = {}) const {
    std::vector<std::string> names;
    for (const SideFile& file : ModelFolder::read(path(), {}).side_files(data, output)) names.push_back(file.name);
    return names;
  }

  TempDir folder_;
};

TEST_F(ModelFolderTest, RecognisesFoldersExceptThoseOfPyTorch) {
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
  EXPECT_THAT(models(), ElementsAre("z.onnx", "a/b.onnx", "onnx/model.onnx", "onnx/model_q4.onnx"));
  put("export/y.onnx");
  EXPECT_THAT(models(), ElementsAre("onnx/model.onnx", "a/b.onnx", "onnx/model_q4.onnx", "y.onnx", "z.onnx"));
  put("export/model.onnx");
  EXPECT_EQ(models().front(), "model.onnx");
}

TEST_F(ModelFolderTest, ChosenModelIsFirst) {
  for (const std::string name : {"model.onnx", "a.onnx", "unet/model.onnx"}) put("export/" + name);
  EXPECT_THAT(models({.first = "a"}), ElementsAre("a.onnx", "model.onnx", "unet/model.onnx"));
  EXPECT_THAT(models({.first = "a.onnx"}), ElementsAre("a.onnx", "model.onnx", "unet/model.onnx"));
  EXPECT_THAT(models({.first = "unet"}), ElementsAre("unet/model.onnx", "a.onnx", "model.onnx"));
  EXPECT_EQ(error_of([this] { return models({.first = "b"}); }).code(), Code::usage_argument);
}

TEST_F(ModelFolderTest, NewNameSaysWhatAFileIs) {
  for (const std::string name : {"m.onnx", "data.onnx", "n.ONNX"}) put("export/" + name);
  const SaveOptions save = {.rename = {{"data.onnx", "data.onnx.bin"}, {"n.ONNX", "n.onnx"}, {"other", "x.txt"}}};
  EXPECT_THAT(models(save), ElementsAre("m.onnx", "n.onnx"));
  const ModelFolder folder = ModelFolder::read(path(), save);
  EXPECT_EQ(folder.side_files({}, {}).front().name, "data.onnx.bin");
  ASSERT_EQ(folder.other_renames().size(), 1U);
  EXPECT_EQ(folder.other_renames().front().from, "other");
}

TEST_F(ModelFolderTest, PatternsLeaveFilesOut) {
  for (const std::string name : {"m.onnx", "old/a.onnx", "old/b/c.txt", "x.tmp", "y.txt"}) put("export/" + name);
  const SaveOptions save = {.exclude = {"old", "*.tmp", "none*"}};
  EXPECT_THAT(models(save), ElementsAre("m.onnx"));
  const ModelFolder folder = ModelFolder::read(path(), save);
  EXPECT_EQ(folder.side_files({}, {}).size(), 1U);
  const std::vector<Finding> remarks = folder.remarks();
  ASSERT_EQ(remarks.size(), 2U);
  EXPECT_THAT(remarks[0].message, HasSubstr("left out: 2 that a pattern matches, such as \"old\""));
  EXPECT_THAT(remarks[1].message, HasSubstr("nothing is left out by the pattern \"none*\""));
}

TEST_F(ModelFolderTest, DataAndTheOutputAreNoSideFiles) {
  for (const std::string name : {"m.onnx", "m.data", "sub/m.data", "out", "config.json"}) put("export/" + name);
  const std::string data = os::slashed_text_of(fs::canonical(path()) / "m.data");
  EXPECT_THAT(side_files({data}, path() / "." / "out"), ElementsAre("config.json", "sub/m.data"));
}

// The side file has the name of the data file.
TEST_F(ModelFolderTest, DataElsewhereDoesNotHideASideFile) {
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

TEST_F(ModelFolderTest, FileThatChangesWhileItIsPackedIsRefused) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  for (const std::string name : {"b.data", "side.bin"}) {  // not the first: it may be read before the first report
    SCOPED_TRACE(name);
    fs::remove_all(path());
    constexpr std::size_t size = 12'000'000;
    const auto model = model_of({linked_floats("a", size / 4, "a.data"), linked_floats("b", size / 4, "b.data")});
    folder_.write_file("export/m.onnx", model.view());
    std::uint32_t seed = 1;
    for (const std::string file : {"a.data", "b.data", "side.bin"})
      folder_.write_file("export/" + file, pattern(size, seed++));
    SaveOptions save = saved_as(Format::archive);
    bool is_changed = false;
    save.progress = [&](std::uint64_t, std::uint64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // more than a tick of the file system's clock
      if (!is_changed) folder_.write_file("export/" + name, pattern(size, seed));
      is_changed = true;
    };
    EXPECT_EQ(code_of([&] { pack(path(), folder_ / "out", save); }), Code::io_changed);
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  }
}

TEST_F(ModelFolderTest, ReportsHiddenFilesButNotWhatIsInFolders) {
  for (const std::string name : {"m.onnx", ".git/deep/config", "a/.hidden", ".onnx"}) put("export/" + name);
  EXPECT_THAT(side_files(), ElementsAre());
  const Finding remark = ModelFolder::read(path(), {}).remarks().front();
  EXPECT_EQ(remark.severity, Severity::note);
  EXPECT_THAT(remark.message, HasSubstr("left out: 3 with a name that begins with a dot, such as \".git\""));
  fs::remove_all(path());
  put("export/m.onnx");
  EXPECT_THAT(ModelFolder::read(path(), {}).remarks().front().message, Not(HasSubstr("left out")));
}

TEST_F(ModelFolderTest, AFolderWithoutModelsIsRefused) {
  put("export/onnx/m.onnx.data");
  expect_error(error_of([this] { ModelFolder::read(path(), {}); }), {.code = Code::io_not_a_file, .path = path()});
}

TEST_F(ModelFolderTest, WarnsOfConfigurationWithPlacesInDataFiles) {
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
