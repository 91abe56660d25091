// Stored models on POSIX systems: variables, working folders, and archives that are replaced while a session is made.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "archive/front_end.h"
#include "onnxar/link.h"
#include "onnxar/stored_model.h"
#include "runtime/storing.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST_F(OwnStoredModelTest, IsOfTheVariablesThatKernelsRead) {
  for (const char* const name : {"MLAS_OF_A_TEST", "ORT_OF_A_TEST"}) {
    ASSERT_EQ(::setenv(name, "1", 1), 0);
    EXPECT_FALSE(opened().is_stored());
    ASSERT_EQ(::unsetenv(name), 0);
    EXPECT_TRUE(opened().is_stored());
  }
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

// --- Deployments and processes meanwhile -----------------------------------------------------------------------------

TEST_F(OwnStoredModelTest, ArchiveThatWasReplacedAndPutBackIsNotStored) {
  const fs::path archive = folder_ / "x.onnxar", aside = folder_ / "aside";
  fs::create_directory(folder_ / "models");
  const auto by_file = [&] {
    fs::rename(archive, aside);
    fs::rename(aside, archive);
  };
  const auto by_link = [&] {
    fs::create_hard_link(archive, aside);
    fs::rename(folder_.write_file("other", "another archive"), archive);
    fs::rename(aside, archive);
  };
  for (const std::function<void()>& deploy : {std::function<void()>(by_file), std::function<void()>(by_link)}) {
    fs::remove(file_);
    StoredModel model = opened();
    write_file(model.prepare(), model_of({floats("w", 2)}).view());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a tick of the clock
    deploy();
    EXPECT_EQ(code_of([&] { model.store(); }), Code::io_changed);
    EXPECT_FALSE(fs::exists(file_));
  }
}

TEST_F(OwnStoredModelTest, FolderThatWasReplacedAndPutBackIsNoticed) {
  fs::create_directories(folder_ / "models/one");
  fs::copy_file(folder_ / "x.onnxar", folder_ / "models/one/x.onnxar");
  for (const char* const name : {"models", "models/one"}) {
    fs::remove(file_);
    StoredModel model = StoredModel::open(file_, {folder_ / "models/one/x.onnxar"});
    write_file(model.prepare(), model_of({floats("w", 2)}).view());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    folder_.write_file("models/one/another", "file");  // does no harm
    model.verify_archive();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    fs::rename(folder_ / name, folder_ / "aside");
    fs::rename(folder_ / "aside", folder_ / name);
    EXPECT_EQ(code_of([&] { model.store(); }), Code::io_changed) << name;
  }
}

TEST_F(OwnStoredModelTest, FailedWriteIsNotRemembered) {
  const Message whole = model_of({floats("w", 2)});
  for (std::size_t size = 0; size < whole.view().size(); ++size) {
    fs::remove(file_);
    StoredModel model = opened();
    write_file(model.prepare(), Bytes(whole.view()).first(size));
    static_cast<void>(code_of([&] { model.store(); }));
    EXPECT_FALSE(fs::exists(folder_ / "a/b/stored.refused")) << size;
  }
  EXPECT_TRUE(stored_anew().is_stored());
}

TEST_F(OwnStoredModelTest, FailureOfAnotherModelIsNotRemembered) {
  fs::remove(file_);
  StoredModel model = opened();
  model.prepare();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  fs::rename(folder_ / "x.onnxar", folder_ / "aside");  // for another one, which fails
  fs::rename(folder_ / "aside", folder_ / "x.onnxar");
  model.refuse("it fails");
  EXPECT_FALSE(fs::exists(folder_ / "a/b/stored.refused"));
}

}  // namespace
}  // namespace onnxar::testing
