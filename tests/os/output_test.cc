// Nameless files, naming files, and reserving room on the disk.
#include "os/output.h"

#include <gtest/gtest.h>

#include "onnxar/bytes.h"
#include "os/error.h"
#include "os/folder.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using os::File;
using os::Reason;

class OutputTest : public ::testing::Test {
 protected:
  OutputTest() : folder_(os::open_folder(dir_.path(), failed_)) {}

  File created(const std::string& name, std::string_view text) {
    File file = os::create_new(folder_, name, failed_);
    os::write_at(file, 0, as_bytes(text), {}, failed_);
    EXPECT_FALSE(failed_);
    return file;
  }

  TempDir dir_;
  std::error_code failed_;
  File folder_;
};

TEST_F(OutputTest, AnUnseenFileIsSeenOnceItHasAName) {
  const File file = os::create_unseen(folder_, failed_);
  if (os::reason_of(failed_) == Reason::unsupported) GTEST_SKIP() << "every file has a name here";
  EXPECT_EQ(dir_.file_names().size(), 0U);
  os::write_at(file, 0, as_bytes("text"), {}, failed_);
  EXPECT_FALSE(os::give_name(file, folder_, "a"));
  EXPECT_EQ(dir_.read_text("a"), "text");
  dir_.write_file("b", "old");
  EXPECT_EQ(os::reason_of(os::give_name(file, folder_, "b")), Reason::exists);
  EXPECT_EQ(dir_.read_text("b"), "old");
}

TEST_F(OutputTest, AnUnseenFileVanishesWhenItIsClosed) {
  os::create_unseen(folder_, failed_);
  EXPECT_EQ(dir_.file_names().size(), 0U);
}

TEST_F(OutputTest, ANewFileReplacesNothing) {
  created("a", "old");
  EXPECT_FALSE(os::create_new(folder_, "a", failed_).valid());
  EXPECT_EQ(os::reason_of(failed_), Reason::exists);
}

TEST_F(OutputTest, RenamingReplacesOnlyWhereThatIsAskedFor) {
  created("a", "new");
  created("b", "old");
  EXPECT_EQ(os::reason_of(os::rename_to_free_name(folder_, "a", "b")), Reason::exists);
  EXPECT_EQ(dir_.read_text("b"), "old");
  EXPECT_FALSE(os::rename_over(folder_, "a", "b"));
  EXPECT_EQ(dir_.read_text("b"), "new");
  EXPECT_FALSE(os::rename_to_free_name(folder_, "b", "c"));
  EXPECT_EQ(dir_.file_names(), std::vector<std::string>{"c"});
}

TEST_F(OutputTest, RoomIsSetAsideWithinTheSizeOrBeyondIt) {
  const File file = created("a", "text");
  const std::error_code failed = os::set_aside(file, 4, 1U << 20U, os::FileSize::stays);
  if (os::reason_of(failed) == Reason::unsupported) GTEST_SKIP() << "this file system promises no room";
  EXPECT_FALSE(failed);
  EXPECT_EQ(dir_.read_text("a"), "text");
  EXPECT_FALSE(os::set_aside(file, 0, 8, os::FileSize::grows));
  EXPECT_EQ(fs::file_size(dir_ / "a"), 8U);
  os::start_writeback(file, 0, 8);
}

TEST_F(OutputTest, SizesBeyondThoseOfTheSystemAreTooLarge) {
  const File file = created("a", "text");
  EXPECT_EQ(os::reason_of(os::set_aside(file, 0, ~std::uint64_t{0}, os::FileSize::grows)), Reason::too_large);
}

TEST_F(OutputTest, SharingOfBlocksFailsAsTheFileSystemSays) {
  const std::string blocks(8192, 'b');
  const File source = created("source", blocks);
  const File target = created("target", "");
  EXPECT_EQ(!os::share_blocks(target, 0, source, 0, blocks.size()), os::can_share_blocks(target));
  EXPECT_TRUE(os::share_blocks(target, 1, source, 0, 4096)) << "no whole block, on any file system";
}

}  // namespace
}  // namespace onnxar::testing
