// Open folders: names are looked up in the folder that was opened.
#include "os/folder.h"

#include <gtest/gtest.h>

#include "onnxar/bytes.h"
#include "os/error.h"
#include "support/emulation.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using os::File;
using os::Links;
using os::Reason;

File folder_at(const fs::path& path) {
  std::error_code failed;
  File folder = os::open_folder(path, failed);
  EXPECT_TRUE(folder.valid()) << failed.message();
  return folder;
}

Reason reason_beneath(const TempDir& root, const fs::path& relative, Links links) {
  std::error_code failed;
  const File file = os::open_beneath(folder_at(root / "in"), relative, links, failed);
  EXPECT_EQ(file.valid(), !failed);
  return os::reason_of(failed);
}

TEST(OpenFolder, IsOfAFolderOnly) {
  const TempDir root;
  std::error_code failed;
  EXPECT_FALSE(os::open_folder(root.write_file("a", "text"), failed).valid());
  EXPECT_EQ(os::reason_of(failed), Reason::not_found);
}

TEST(OpenFolder, StaysTheOneThatWasOpened) {
  const TempDir root;
  root.write_file("in/a", "text");
  const File in = folder_at(root / "in");
  fs::rename(root / "in", root / "moved");
  fs::create_directory(root / "in");
  std::error_code failed;
  EXPECT_EQ(os::status_in(in, "a", failed).size, 4U);
  EXPECT_FALSE(os::is_empty(in, failed));
}

TEST(OpenFolderIn, FollowsNoLink) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir root;
  fs::create_directories(root / "in/sub");
  make_symlink("sub", root / "in/link");
  const File in = folder_at(root / "in");
  std::error_code failed;
  EXPECT_TRUE(os::open_folder_in(in, "sub", failed).valid());
  EXPECT_TRUE(os::open_folder_in(in, "..", failed).valid());
  EXPECT_FALSE(os::open_folder_in(in, "link", failed).valid());
  EXPECT_FALSE(os::open_folder_beneath(in, "link", failed).valid());
}

TEST(OpenBeneath, KeepsToTheFolder) {
  ONNXAR_NEEDS_SYMLINKS();
  ONNXAR_NATIVELY("know openat2, which follows links");
  const TempDir root;
  root.write_file("in/sub/a", "text");
  root.write_file("out", "text");
  make_symlink("sub/a", root / "in/stays");
  make_symlink("../out", root / "in/leaves");
  EXPECT_EQ(reason_beneath(root, "sub/a", Links::refuse), Reason::none);
  EXPECT_EQ(reason_beneath(root, "stays", Links::follow), Reason::none);
  EXPECT_EQ(reason_beneath(root, "stays", Links::refuse), Reason::too_many_links);
  EXPECT_EQ(reason_beneath(root, "leaves", Links::follow), Reason::outside);
  EXPECT_EQ(reason_beneath(root, "../out", Links::follow), Reason::outside);
  EXPECT_EQ(reason_beneath(root, root / "in/sub/a", Links::follow), Reason::outside);
  EXPECT_EQ(reason_beneath(root, "none", Links::follow), Reason::not_found);
}

TEST(StatusIn, DoesNotFollowALink) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir root;
  make_symlink("nowhere", root / "link");
  const File folder = folder_at(root.path());
  std::error_code failed;
  EXPECT_EQ(os::status_in(folder, "link", failed).kind, os::FileKind::link);
  EXPECT_EQ(os::read_link(folder, "link", failed), "nowhere");
  EXPECT_TRUE(os::may_follow_link(folder, "link", failed));
  EXPECT_FALSE(failed);
}

TEST(MakeAndRemove, NamesOfAFolder) {
  const TempDir root;
  const File folder = folder_at(root.path());
  std::error_code failed;
  EXPECT_TRUE(os::is_empty(folder, failed));
  EXPECT_FALSE(os::make_folder(folder, "sub"));
  EXPECT_EQ(os::reason_of(os::make_folder(folder, "sub")), Reason::exists);
  EXPECT_FALSE(os::is_empty(folder, failed));
  EXPECT_FALSE(os::sync_folder(folder));
  EXPECT_TRUE(os::remove_file(folder, "sub")) << "it is a folder";
  EXPECT_FALSE(os::remove_folder(folder, "sub"));
  root.write_file("a", "text");
  EXPECT_TRUE(os::remove_folder(folder, "a")) << "it is a file";
  EXPECT_FALSE(os::remove_file(folder, "a"));
  EXPECT_TRUE(os::is_empty(folder, failed));
}

// Nameless files, naming files, and reserving room on the disk.

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

TEST_F(OutputTest, RenamingReplacesOnlyOnRequest) {
  created("a", "new");
  created("b", "old");
  EXPECT_EQ(os::reason_of(os::rename_to_free_name(folder_, "a", folder_, "b")), Reason::exists);
  EXPECT_EQ(dir_.read_text("b"), "old");
  EXPECT_FALSE(os::rename_over(folder_, "a", "b"));
  EXPECT_EQ(dir_.read_text("b"), "new");
  EXPECT_FALSE(os::rename_to_free_name(folder_, "b", folder_, "c"));
  EXPECT_EQ(dir_.file_names(), std::vector<std::string>{"c"});
}

TEST_F(OutputTest, RenamesIntoAnotherFolder) {
  created("a", "text");
  fs::create_directory(dir_ / "into");
  const File into = os::open_folder(dir_ / "into", failed_);
  EXPECT_FALSE(os::rename_to_free_name(folder_, "a", into, "b"));
  EXPECT_EQ(dir_.read_text("into/b"), "text");
  EXPECT_FALSE(fs::exists(dir_ / "a"));
}

TEST_F(OutputTest, MakesLinksUnderFreeNames) {
  const std::error_code failed = os::make_link(folder_, "l", "../nowhere");
  if (os::reason_of(failed) == Reason::unsupported) GTEST_SKIP() << "this system makes no links";
  EXPECT_FALSE(failed);
  EXPECT_EQ(fs::read_symlink(dir_ / "l"), "../nowhere");
  EXPECT_EQ(os::reason_of(os::make_link(folder_, "l", "x")), Reason::exists);
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
