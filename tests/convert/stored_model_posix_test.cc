// A stored model that other users can change is not used: it decides what sessions compute. And what else may lie at
// the names of its files.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "archive/front_end.h"
#include "onnxar/link.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

class OwnStoredModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "a/b");
    folder_.write_file("x.onnxar", archive_of(model_of({floats("w", 2)})).bytes);
    StoredModel model = opened();
    write_file(model.prepare(), model_of({floats("w", 2)}).view());
    model.store();
  }
  [[nodiscard]] StoredModel opened() const { return StoredModel::open(file_, {folder_ / "x.onnxar"}); }
  [[nodiscard]] std::optional<Code> refusal() const {
    return code_of([&] { return opened().prepare(); });
  }
  [[nodiscard]] StoredModel stored_anew() const {
    fs::remove(file_);
    StoredModel model = opened();
    write_file(model.prepare(), model_of({floats("w", 2)}).view());
    model.store();
    return model;
  }
  void expect_refused(const fs::path& path, fs::perms more) const {
    ASSERT_TRUE(opened().is_stored());
    fs::permissions(path, more, fs::perm_options::add);
    StoredModel model = opened();
    EXPECT_FALSE(model.is_stored()) << path;
    const auto error = error_if_any([&] { return model.prepare(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(id(error->code()), "io.permission");
    EXPECT_EQ(error->path(), fs::canonical(path));
    fs::permissions(path, more, fs::perm_options::remove);
  }

  TempDir folder_;
  fs::path file_ = folder_ / "a/b/stored";
};

TEST_F(OwnStoredModelTest, IsNotUsedWhereOthersCanWrite) {
  for (const fs::perms more : {fs::perms::group_write, fs::perms::others_write}) {
    expect_refused(file_, more);
    expect_refused(folder_ / "a/b", more);
    expect_refused(folder_ / "a/b", more | fs::perms::sticky_bit);
    expect_refused(folder_ / "a", more);
  }
  fs::permissions(folder_ / "a", fs::perms::others_write | fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_TRUE(opened().is_stored());
}

TEST_F(OwnStoredModelTest, IsWrittenSoThatOthersCannotWriteToIt) {
  fs::remove(file_);
  fs::remove(folder_ / "a/b/stored.seen");
  const mode_t mask = ::umask(0);
  StoredModel model = opened();
  const fs::path output = model.prepare();
  EXPECT_EQ(fs::status(output.parent_path()).permissions(), fs::perms::owner_all);
  write_file(output, model_of({floats("w", 2)}).view());
  model.store();
  ::umask(mask);
  for (const fs::path& each : {file_, folder_ / "a/b/stored.seen"}) {
    if (!fs::exists(each)) continue;  // where the system does not tell when it was started
    EXPECT_EQ(fs::status(each).permissions() & (fs::perms::group_write | fs::perms::others_write), fs::perms::none);
  }
  EXPECT_TRUE(opened().is_stored());
}

TEST_F(OwnStoredModelTest, WhatOthersCanWriteIsNotBelieved) {
  if (!fs::exists(file_.parent_path() / "stored.seen")) GTEST_SKIP() << "the system does not tell when it was started";
  const std::string seen = folder_.read_text("a/b/stored.seen");
  ASSERT_GT(seen.size(), 64U);
  folder_.write_file("a/b/stored.seen", seen.substr(0, seen.size() - 64) + std::string(64, '0'));
  EXPECT_FALSE(opened().is_stored()) << "a digest that is another archive's";
  fs::permissions(folder_ / "a/b/stored.seen", fs::perms::others_write, fs::perm_options::add);
  EXPECT_TRUE(opened().is_stored());
}

TEST_F(OwnStoredModelTest, IsOfTheVariablesThatKernelsRead) {
  for (const char* const name : {"MLAS_OF_A_TEST", "ORT_OF_A_TEST"}) {
    ASSERT_EQ(::setenv(name, "1", 1), 0);
    EXPECT_FALSE(opened().is_stored());
    ASSERT_EQ(::unsetenv(name), 0);
    EXPECT_TRUE(opened().is_stored());
  }
}

TEST_F(OwnStoredModelTest, ThatCannotBeLockedIsNotStored) {
  fs::remove(file_);
  fs::remove(folder_ / "a/b/stored.lock");
  fs::create_directory(folder_ / "a/b/stored.lock");
  StoredModel model = opened();
  EXPECT_FALSE(model.is_stored());
  EXPECT_EQ(code_of([&] { return model.prepare(); }), Code::io_not_a_file);
  EXPECT_EQ(model.link().archive, "x.onnxar");
}

// --- Names that are taken --------------------------------------------------------------------------------------------

TEST_F(OwnStoredModelTest, FilesOfTheUserStay) {
  const std::string line = "onnxar stored model 1\n";
  fs::remove(folder_ / "a/b/stored.seen");
  for (const std::string& text : {line, "my notes on\n" + line, std::string(5000, '.') + line}) {
    folder_.write_file("a/b/stored", text);
    EXPECT_EQ(refusal(), Code::output_exists);
    EXPECT_EQ(folder_.read_text("a/b/stored"), text);
  }
  folder_.write_file("a/b/stored.seen", "mine");
  EXPECT_TRUE(stored_anew().is_stored());
  EXPECT_EQ(folder_.read_text("a/b/stored.seen"), "mine");
  fs::remove(file_);
  folder_.write_file("a/b/stored.storing", "mine");
  EXPECT_EQ(refusal(), Code::output_exists);
  EXPECT_EQ(folder_.read_text("a/b/stored.storing"), "mine");
}

TEST_F(OwnStoredModelTest, FolderOfTheUserStays) {
  fs::remove(file_);
  for (const char* const name : {"mine/model.onnx", "mine/data", "mine/packed"}) {
    fs::create_directory(folder_ / "mine");
    folder_.write_file(name, "mine");
  }
  fs::permissions(folder_ / "mine", fs::perms(0755));
  fs::create_directory_symlink(folder_ / "mine", folder_ / "a/b/stored.storing");
  EXPECT_EQ(refusal(), Code::output_exists);
  for (const char* const name : {"mine/model.onnx", "mine/data", "mine/packed"}) {
    EXPECT_EQ(folder_.read_text(name), "mine");
  }
  EXPECT_EQ(fs::status(folder_ / "mine").permissions(), fs::perms(0755));
  fs::remove(folder_ / "a/b/stored.storing");
  fs::create_directory(folder_ / "a/b/stored.storing");
  folder_.write_file("a/b/stored.storing/notes", "mine");
  EXPECT_TRUE(stored_anew().is_stored());
  EXPECT_EQ(folder_.read_text("a/b/stored.storing/notes"), "mine");
}

TEST_F(OwnStoredModelTest, PipesAreNotWaitedFor) {
  for (const char* const name : {"a/b/stored", "a/b/stored.seen", "a/b/stored.lock", "a/b/stored.storing"}) {
    EXPECT_TRUE(stored_anew().is_stored());
    fs::remove(folder_ / name);
    ASSERT_EQ(::mkfifo((folder_ / name).c_str(), S_IRUSR | S_IWUSR), 0);
    static_cast<void>(error_if_any([&] { return opened().prepare(); }));
    EXPECT_TRUE(fs::is_fifo(folder_ / name)) << name;
    fs::remove(folder_ / name);
  }
}

TEST_F(OwnStoredModelTest, LinkIsFollowedAndItsTargetMustBeOwn) {
  fs::create_directories(folder_ / "c/d");
  fs::create_symlink("../../c/d/there", folder_ / "a/b/link");
  file_ = folder_ / "a/b/link";
  for (const bool is_there : {false, true}) {
    EXPECT_EQ(opened().is_stored(), is_there);
    if (!is_there) {
      StoredModel model = opened();
      write_file(model.prepare(), model_of({floats("w", 2)}).view());
      model.store();
    }
    EXPECT_TRUE(fs::is_symlink(file_));
    EXPECT_TRUE(fs::is_regular_file(folder_ / "c/d/there"));
  }
  fs::permissions(folder_ / "c/d", fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(opened().is_stored());
}

TEST_F(OwnStoredModelTest, PathsCountFromTheFolderInWhichItWasOpened) {
  fs::remove(file_);
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  StoredModel model = StoredModel::open("a/b/stored", {"x.onnxar"});
  fs::current_path(folder_ / "a");
  write_file(model.prepare(), model_of({floats("w", 2)}).view());
  fs::current_path(before);
  model.store();
  model.verify();
  EXPECT_TRUE(opened().is_stored());
}

}  // namespace
}  // namespace onnxar::testing
