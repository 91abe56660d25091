// Open folders: names are looked up in the folder that was opened.
#include "os/folder.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace onnxar::testing
