// What a PathState notices, and what it does not count.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/path_state.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::PathState;

class PathStateTest : public ::testing::Test {
 protected:
  PathStateTest() {
    fs::create_directories(folder_ / "a/b");
    folder_.write_file("a/b/file", "text");
  }
  static void wait_for_a_tick() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

  TempDir folder_;
  fs::path path_ = folder_ / "a/b/file";
};

TEST_F(PathStateTest, HoldsWhileOthersMakeNames) {
  const PathState state(path_);
  wait_for_a_tick();
  folder_.write_file("a/b/other", "text");
  fs::create_directory(folder_ / "a/c");
  fs::remove(folder_ / "a/b/other");
  EXPECT_TRUE(state.holds());
  state.expect_same();
}

TEST_F(PathStateTest, NoticesChangeInPlace) {
  const PathState state(path_);
  wait_for_a_tick();
  folder_.write_file("a/b/file", "TEXT");
  EXPECT_FALSE(state.holds());
  EXPECT_EQ(code_of([&] { state.expect_same(); }), Code::io_changed);
}

TEST_F(PathStateTest, NoticesFileThatIsBack) {
  const PathState state(path_);
  wait_for_a_tick();
  fs::rename(path_, folder_ / "aside");
  EXPECT_FALSE(state.holds());
  fs::rename(folder_ / "aside", path_);
  EXPECT_FALSE(state.holds());
}

TEST_F(PathStateTest, NoticesFolderThatIsBack) {
  for (const char* const name : {"a", "a/b"}) {
    const PathState state(path_);
    wait_for_a_tick();
    fs::rename(folder_ / name, folder_ / "aside");
    EXPECT_FALSE(state.holds());
    fs::rename(folder_ / "aside", folder_ / name);
    EXPECT_FALSE(state.holds()) << name;
  }
}

TEST_F(PathStateTest, IsOfTheTargetOfALink) {
  fs::create_symlink("b/file", folder_ / "a/link");
  const PathState state(folder_ / "a/link");
  EXPECT_EQ(state.path(), fs::canonical(path_));
  fs::remove(folder_ / "a/link");
  EXPECT_TRUE(state.holds());
  EXPECT_EQ(code_of([&] { PathState missing(folder_ / "a/link"); }), Code::io_not_found);
}

}  // namespace
}  // namespace onnxar::testing
