// Folders of many stored models: names, lists, and what `clear_stored` leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "archive/front_end.h"
#include "onnxar/link.h"
#include "onnxar/stored_model.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoredFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : {"x.onnxar", "y.onnxar"}) {
      folder_.write_file(name, archive_of(model_of({floats(name, 2)})).bytes);
    }
  }
  [[nodiscard]] StoredModel opened(const std::string& name = "x.onnxar", const std::string& settings = "") const {
    return StoredModel::open_in(cache_, {folder_ / name, "", "1.23 of today", settings});
  }
  StoredModel stored(const std::string& name = "x.onnxar", const std::string& settings = "") const {
    StoredModel model = opened(name, settings);
    write_file(model.prepare(), model_of({floats("w", 2)}).view());
    model.store();
    return model;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    if (!fs::exists(cache_)) return found;
    for (const fs::directory_entry& each : fs::directory_iterator(cache_)) found.push_back(each.path().filename());
    std::ranges::sort(found);
    return found;
  }

  TempDir folder_;
  fs::path cache_ = folder_ / "home/cache";
};

TEST_F(StoredFolderTest, MakesFoldersThatOnlyTheirOwnerMayUse) {
  const mode_t mask = ::umask(0);
  EXPECT_FALSE(opened().is_stored());
  ::umask(mask);
  for (const fs::path& each : {cache_, cache_.parent_path()}) {
    EXPECT_EQ(fs::status(each).permissions(), fs::perms::owner_all);
  }
}

TEST_F(StoredFolderTest, EqualArchivesShareOneFile) {
  stored();
  fs::copy_file(folder_ / "x.onnxar", folder_ / "copy.onnxar");
  EXPECT_TRUE(opened().is_stored());
  EXPECT_TRUE(opened("copy.onnxar").is_stored());
  EXPECT_FALSE(opened("y.onnxar").is_stored());
  EXPECT_FALSE(opened("x.onnxar", "level 2").is_stored());
  stored("y.onnxar");
  stored("x.onnxar", "level 2");
  EXPECT_TRUE(opened().is_stored());
  EXPECT_EQ(list_stored(cache_).files.size(), 3U);
}

TEST_F(StoredFolderTest, ListsModelsAndRefusals) {
  EXPECT_THAT(list_stored(cache_).files, IsEmpty());
  const StoredModel model = stored();
  opened("y.onnxar").refuse("for a test");
  fs::create_directory(cache_ / (std::string(64, 'a') + ".onnxar.part"));
  folder_.write_file("home/cache/" + std::string(64, 'a') + ".onnxar.part/about", "onnxar stored model 2\n");
  folder_.write_file("home/cache/" + std::string(64, 'a') + ".onnxar.part/data", std::string(1000, 'x'));
  folder_.write_file("home/cache/" + std::string(64, 'b') + ".onnxar", "not an archive");
  folder_.write_file("home/cache/" + std::string(64, 'c') + ".onnxar.refused", "not ours");
  const StoredFolder found = list_stored(cache_);
  EXPECT_EQ(found.unfinished, 1000U);
  ASSERT_EQ(found.files.size(), 2U);
  for (const StoredFile& each : found.files) {
    const bool is_refused = each.archive == folder_ / "y.onnxar";
    EXPECT_EQ(each.why, is_refused ? "for a test" : "");
    EXPECT_EQ(each.size, is_refused ? 0 : fs::file_size(model.link().folder / model.link().archive));
    EXPECT_EQ(each.runtime, "1.23 of today");
    EXPECT_GT(each.time, 1'700'000'000'000'000'000);
  }
}

TEST_F(StoredFolderTest, ClearLeavesFilesOfOthers) {
  stored();
  opened("y.onnxar").refuse("for a test");
  const std::string digest(64, 'd');
  std::vector<std::string> kept;
  for (const char* const end : {".onnxar", ".json", ".safetensors", ".digest", ".onnxar.seen", ".onnxar.refused"}) {
    kept.push_back(digest + end);
    folder_.write_file("home/cache/" + kept.back(), "mine");
  }
  for (const char* const end : {".d", ".onnxar.part"}) {
    kept.push_back(digest + end);
    fs::create_directory(cache_ / kept.back());
    folder_.write_file("home/cache/" + kept.back() + "/data", "mine");
  }
  fs::copy_file(folder_ / "x.onnxar", cache_ / (std::string(64, 'e') + ".onnxar"));
  kept.push_back(std::string(64, 'e') + ".onnxar");
  std::ranges::sort(kept);
  const ClearedFolder cleared = clear_stored(cache_);
  EXPECT_EQ(cleared.removed, 1U);
  EXPECT_EQ(names(), kept);
  for (const char* const end : {".d/data", ".onnxar.part/data"}) {
    EXPECT_EQ(folder_.read_text("home/cache/" + digest + end), "mine");
  }
}

// A crash of the system can leave a file of zeros.
TEST_F(StoredFolderTest, ReplacesAndClearsFilesOfZeros) {
  const StoredModel model = stored();
  const fs::path file = model.link().folder / model.link().archive;
  const auto zero = [&] {
    const std::string zeros(fs::file_size(file), '\0');
    folder_.write_file("home/cache/" + file.filename().string(), zeros);
  };
  zero();
  EXPECT_FALSE(opened().is_stored());
  stored();
  EXPECT_TRUE(opened().is_stored());
  zero();
  EXPECT_EQ(clear_stored(cache_).removed, 1U);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(StoredFolderTest, ClearLeavesFolderOfOthersBesideModel) {
  stored();
  const std::vector<std::string> all = names();
  const auto is_stored = [](const std::string& name) { return name.ends_with(".onnxar"); };
  const std::string file = *std::ranges::find_if(all, is_stored);
  folder_.write_file("home/cache/" + file + ".part/data", "mine");
  const ClearedFolder cleared = clear_stored(cache_);
  EXPECT_EQ(cleared.removed, 1U);
  EXPECT_EQ(cleared.busy, 0U);
  EXPECT_THAT(names(), ElementsAre(file + ".part"));
  EXPECT_EQ(folder_.read_text("home/cache/" + file + ".part/data"), "mine");
}

TEST_F(StoredFolderTest, ClearLeavesWhatIsBeingStored) {
  stored("y.onnxar");
  StoredModel model = opened();
  const fs::path output = model.prepare();
  write_file(output, model_of({floats("w", 2)}).view());
  const ClearedFolder cleared = clear_stored(cache_);
  EXPECT_EQ(cleared.removed, 1U);
  EXPECT_EQ(cleared.busy, 1U);
  model.store();
  EXPECT_TRUE(opened().is_stored());
  EXPECT_EQ(clear_stored(cache_).removed, 1U);
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(code_of([&] { model.verify(); }), Code::io_changed);
}

TEST_F(StoredFolderTest, AbandonedPartsGoWithTheNextModel) {
  fs::create_directories(cache_);
  fs::permissions(cache_, fs::perms::owner_all);
  const std::string part = std::string(64, 'a') + ".onnxar.part";
  fs::create_directory(cache_ / part);
  folder_.write_file("home/cache/" + part + "/about", "onnxar stored model 2\n");
  folder_.write_file("home/cache/" + part + "/data", "half");
  stored();
  EXPECT_FALSE(fs::exists(cache_ / part));
}

TEST_F(StoredFolderTest, FolderThatOthersCanChangeIsNotUsed) {
  stored();
  fs::permissions(cache_, fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(opened().is_stored());
  EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::io_permission);
  EXPECT_EQ(code_of([&] { return clear_stored(cache_); }), Code::io_permission);
  EXPECT_EQ(code_of([&] { return list_stored(cache_); }), Code::io_permission);
}

TEST_F(StoredFolderTest, PathThatIsAFileIsRefused) {
  cache_ = folder_.write_file("file", "");
  EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::io_not_a_file);
  cache_ /= "cache";
  EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::io_not_a_file);
}

}  // namespace
}  // namespace onnxar::testing
