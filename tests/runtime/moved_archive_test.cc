// An archive that moves to another folder, and back.
#include "runtime/moved_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

class MovedArchiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = folder_.write_file("store/a.onnxar", smallest_archive().bytes);
    std::filesystem::create_directory(folder_ / "into");
    into_ = base::Folder::open(folder_ / "into");
  }
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(path_); }
  [[nodiscard]] bool is_moved() const { return std::filesystem::exists(folder_ / "into/a.onnxar"); }

  TempDir folder_;
  std::filesystem::path path_;
  std::shared_ptr<const base::Folder> into_;
};

TEST_F(MovedArchiveTest, IsBackUnlessItIsKept) {
  {
    const MovedArchive moved(path_, into_);
    EXPECT_FALSE(is_there());
    EXPECT_TRUE(is_moved());
  }
  EXPECT_TRUE(is_there());
  EXPECT_FALSE(is_moved());
}

TEST_F(MovedArchiveTest, StaysWhereItIsKept) {
  MovedArchive(path_, into_).keep(true);
  EXPECT_FALSE(is_there());
  EXPECT_TRUE(is_moved());
}

TEST_F(MovedArchiveTest, ReplacesNothing) {
  folder_.write_file("into/a.onnxar", smallest_archive().bytes);
  EXPECT_EQ(code_of([&] { const MovedArchive moved(path_, into_); }), Code::output_exists);
  EXPECT_TRUE(is_there());
  EXPECT_TRUE(is_moved());
}

}  // namespace
}  // namespace onnxar::testing
