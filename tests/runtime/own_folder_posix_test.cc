// Which files and folders of stored models are used: none that other users can change, none of the user's own.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "archive/front_end.h"
#include "onnxar/stored_model.h"
#include "runtime/storing.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

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

/// The file's permissions, and those of all files beside it.
std::map<std::string, fs::perms> permissions_in(const fs::path& folder) {
  std::map<std::string, fs::perms> found;
  for (const fs::directory_entry& each : fs::directory_iterator(folder)) {
    found[each.path().filename()] = each.status().permissions();
  }
  return found;
}

TEST_F(OwnStoredModelTest, OnlyTheirOwnerMayUseNewFiles) {
  for (const auto& [name, permissions] : permissions_in(folder_ / "a/b")) fs::remove(folder_ / "a/b" / name);
  const mode_t mask = ::umask(0);
  StoredModel model = opened();
  const fs::path output = model.prepare();
  EXPECT_EQ(fs::status(output.parent_path()).permissions(), fs::perms::owner_all);
  write_file(output, model_of({floats("w", 2)}).view());
  model.store();
  std::this_thread::sleep_for(after_a_tick);
  EXPECT_TRUE(opened().is_stored());
  auto found = permissions_in(folder_ / "a/b");
  opened().refuse("a test");
  ::umask(mask);
  found.merge(permissions_in(folder_ / "a/b"));
  EXPECT_TRUE(found.contains("stored") && found.contains("stored.lock") && found.contains("stored.refused"));
  for (const auto& [name, permissions] : found) {
    EXPECT_EQ(permissions, fs::perms::owner_read | fs::perms::owner_write) << name;
  }
}

TEST_F(OwnStoredModelTest, WhatOthersCanWriteIsNotBelieved) {
  std::this_thread::sleep_for(after_a_tick);
  EXPECT_TRUE(opened().is_stored());
  if (!fs::exists(file_.parent_path() / "stored.digest"))
    GTEST_SKIP() << "the system does not tell when it was started";
  const std::string digest = folder_.read_text("a/b/stored.digest");
  ASSERT_GT(digest.size(), 64U);
  const std::string forged = digest.substr(0, digest.size() - 64) + std::string(64, '0');
  folder_.write_file("a/b/stored.digest", forged);
  EXPECT_FALSE(opened().is_stored()) << "a digest that is another archive's";
  fs::permissions(folder_ / "a/b/stored.digest", fs::perms::others_write, fs::perm_options::add);
  EXPECT_TRUE(opened().is_stored());
  EXPECT_EQ(folder_.read_text("a/b/stored.digest"), forged) << "it is not ours";
  fs::rename(folder_ / "a/b/stored.digest", folder_ / "a/b/target");
  fs::permissions(folder_ / "a/b/target", fs::perms::owner_read);
  fs::create_symlink("target", folder_ / "a/b/stored.digest");
  EXPECT_TRUE(opened().is_stored()) << "a link is not followed";
}

TEST_F(OwnStoredModelTest, FilesOfAnotherUserAreNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  std::this_thread::sleep_for(after_a_tick);
  EXPECT_TRUE(opened().is_stored());
  const auto given_away = [&](const char* name) {
    EXPECT_EQ(::chown((folder_ / "a/b" / name).c_str(), 1, static_cast<gid_t>(-1)), 0);
  };
  if (fs::exists(folder_ / "a/b/stored.digest")) {
    const std::string digest = folder_.read_text("a/b/stored.digest");
    folder_.write_file("a/b/stored.digest", digest.substr(0, digest.size() - 64) + std::string(64, '0'));
    given_away("stored.digest");
    EXPECT_TRUE(opened().is_stored());
    given_away("stored.seen");
    EXPECT_TRUE(opened().is_stored());
  }
  given_away("stored");
  EXPECT_FALSE(opened().is_stored());
  EXPECT_EQ(refusal(), Code::io_permission);
  fs::remove(file_);
  given_away("stored.lock");
  EXPECT_EQ(refusal(), Code::io_permission);
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

TEST_F(OwnStoredModelTest, FilesOfTheUserStay) {
  const std::string line = "onnxar stored model 2\n";
  for (const std::string& text : {line, "my notes on\n" + line, std::string(5000, '.') + line}) {
    folder_.write_file("a/b/stored", text);
    EXPECT_EQ(refusal(), Code::output_exists);
    EXPECT_EQ(folder_.read_text("a/b/stored"), text);
  }
  for (const char* const name : {"a/b/stored.seen", "a/b/stored.digest", "a/b/stored.refused"}) {
    folder_.write_file(name, "mine");
  }
  std::this_thread::sleep_for(after_a_tick);
  EXPECT_TRUE(stored_anew().is_stored());
  opened().refuse("a test");
  for (const char* const name : {"a/b/stored.seen", "a/b/stored.digest", "a/b/stored.refused"}) {
    EXPECT_EQ(folder_.read_text(name), "mine");
  }
  folder_.write_file("a/b/stored.lock", "mine");
  EXPECT_EQ(refusal(), Code::output_exists);
  EXPECT_EQ(folder_.read_text("a/b/stored.lock"), "mine");
  fs::remove(folder_ / "a/b/stored.lock");
  folder_.write_file("a/b/stored.part", "mine");
  EXPECT_EQ(refusal(), Code::output_exists);
  EXPECT_EQ(folder_.read_text("a/b/stored.part"), "mine");
}

TEST_F(OwnStoredModelTest, PipesAreNotWaitedFor) {
  for (const char* const name : {"a/b/stored", "a/b/stored.seen", "a/b/stored.lock", "a/b/stored.part"}) {
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

TEST_F(OwnStoredModelTest, ForkedChildHasNoLock) {
  fs::remove(file_);
  auto model = std::make_unique<StoredModel>(opened());
  const fs::path output = model->prepare();
  const pid_t child = ::fork();
  if (child == 0) {
    if (code_of([&] { model->store(); }) != Code::archive_busy) ::_exit(1);
    model.reset();  // leaves what is its parent's
    ::pause();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(fs::exists(output.parent_path()));
  EXPECT_EQ(refusal(), Code::archive_busy);
  write_file(output, model_of({floats("w", 2)}).view());
  model->store();
  EXPECT_EQ(::kill(child, 0), 0);
  model.reset();
  EXPECT_TRUE(stored_anew().is_stored()) << "the child holds the lock";
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child could store";
}

}  // namespace
}  // namespace onnxar::testing
