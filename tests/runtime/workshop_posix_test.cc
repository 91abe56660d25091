// A folder with the name of the workshop's that a user made stays as it is.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "archive/front_end.h"
#include "runtime/storing.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST_F(OwnStoredModelTest, FolderOfTheUserStays) {
  fs::remove(file_);
  for (const char* const name : {"mine/model.onnx", "mine/data", "mine/packed"}) {
    fs::create_directory(folder_ / "mine");
    folder_.write_file(name, "mine");
  }
  fs::permissions(folder_ / "mine", fs::perms(0755));
  fs::create_directory_symlink(folder_ / "mine", folder_ / "a/b/stored.part");
  EXPECT_EQ(refusal(), Code::output_exists);
  for (const char* const name : {"mine/model.onnx", "mine/data", "mine/packed"}) {
    EXPECT_EQ(folder_.read_text(name), "mine");
  }
  EXPECT_EQ(fs::status(folder_ / "mine").permissions(), fs::perms(0755));
  fs::remove(folder_ / "a/b/stored.part");
  fs::create_directory(folder_ / "a/b/stored.part");
  folder_.write_file("a/b/stored.part/data", "mine");
  EXPECT_EQ(refusal(), Code::output_exists);
  EXPECT_EQ(folder_.read_text("a/b/stored.part/data"), "mine");
  fs::remove(folder_ / "a/b/stored.part/data");
  EXPECT_TRUE(stored_anew().is_stored()) << "an empty folder is as good as ours";
}

}  // namespace
}  // namespace onnxar::testing
