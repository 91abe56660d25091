// Opening files that must lie in a folder: no path leads out, except through the links of a cache.
#include <gtest/gtest.h>

#include "base/folder.h"
#include "beneath_folders.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST(OpenBeneath, FilesInTheFolderAreOpened) {
  const Folders folders;
  EXPECT_EQ(folders.open("a"), "a");
  EXPECT_EQ(folders.open("sub/b"), "b");
  EXPECT_EQ(folders.open("./sub/./b"), "b");
}

TEST(OpenBeneath, MissingFilesAreMissing) {
  ONNXAR_NEEDS_SYMLINKS();
  const Folders folders;
  EXPECT_EQ(folders.open("none"), "missing");
  EXPECT_EQ(folders.open("sub/none"), "missing");
  EXPECT_EQ(folders.open("dangling"), "missing");
  EXPECT_EQ(text_at(folders.real("none"), folders.real("none"), "a"), "missing");
}

TEST(OpenBeneath, DotDotMayNotLeave) {
  const Folders folders;
  for (const char* const way : {"../out/secret", "..", "sub/../../out/secret", "../inside/c", "sub/../../in/a"}) {
    EXPECT_EQ(folders.open(way), "outside") << way;
    EXPECT_EQ(folders.open_with_cache(way), "outside") << way;
  }
  EXPECT_EQ(folders.open("sub/../a"), "a");
}

TEST(OpenBeneath, AbsolutePathsAreOutside) {
  const Folders folders;
  EXPECT_EQ(folders.open(folders.real("in/a")), "outside");
  EXPECT_EQ(folders.open_with_cache(folders.real("out/secret")), "outside");
  EXPECT_EQ(folders.open("/etc/passwd"), "outside");
}

TEST(OpenBeneath, LinksThatStayAreFollowed) {
  ONNXAR_NEEDS_SYMLINKS();
  const Folders folders;
  EXPECT_EQ(folders.open("to_a"), "a");
  EXPECT_EQ(folders.open("round_to_a"), "a");
  EXPECT_EQ(folders.open("to_sub/b"), "b");
}

TEST(OpenBeneath, LinksThatLeaveAreOutside) {
  ONNXAR_NEEDS_SYMLINKS();
  const Folders folders;
  for (const char* const way :
       {"leaves", "leaves_by_folder/secret", "absolute", "leaves_to_nothing", "leaves_by_folder/none"}) {
    EXPECT_EQ(folders.open(way), "outside") << way;
  }
}

TEST(OpenBeneath, LinksThatLeaveAreFollowedIntoTheSecondFolder) {
  ONNXAR_NEEDS_SYMLINKS();
  const Folders folders;
  EXPECT_EQ(folders.open_with_cache("leaves"), "secret");
  EXPECT_EQ(folders.open_with_cache("leaves_by_folder/secret"), "secret");
  EXPECT_EQ(folders.open_with_cache("absolute"), "secret");
  EXPECT_EQ(folders.open_with_cache("a"), "a");
}

// The folder is also the second one, into which links may lead.
TEST(OpenBeneath, FollowsLinksThatReturnToTheFolder) {
  ONNXAR_NEEDS_SYMLINKS();
  const Folders folders;
  EXPECT_EQ(folders.open("sub/out_and_in"), "a");
  EXPECT_EQ(folders.open("absolute_to_inside"), "a");
}

TEST(OpenBeneath, SecondFolderIsNotMatchedByTheStartOfItsName) {
  ONNXAR_NEEDS_SYMLINKS();
  const Folders folders;
  folders.link("../inside/c", "in/beside");
  EXPECT_EQ(text_at(folders.real("in"), folders.real("ins"), "beside"), "outside");
  EXPECT_EQ(text_at(folders.real("in"), folders.real("inside"), "beside"), "c");
  EXPECT_EQ(text_at(folders.real("in"), "", "beside"), "outside");
}

// models--x/snapshots/REVISION/model.onnx and weights.bin are links to models--x/blobs/HASH.
TEST(OpenBeneath, CacheOfLinksIntoOneFolderOfBlobsIsRead) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir dir;
  dir.write_file("blobs/0123abcd", "weights");
  fs::create_directories(dir / "snapshots/rev/onnx");
  make_symlink("../../blobs/0123abcd", dir / "snapshots/rev/weights.bin");
  make_symlink("../../../blobs/0123abcd", dir / "snapshots/rev/onnx/more.bin");
  const fs::path root = fs::canonical(dir.path());
  EXPECT_EQ(text_at(root / "snapshots/rev", root / "blobs", "weights.bin"), "weights");
  EXPECT_EQ(text_at(root / "snapshots/rev", root / "blobs", "onnx/more.bin"), "weights");
  EXPECT_EQ(text_at(root / "snapshots/rev", root / "blobs", "../../blobs/0123abcd"), "outside");
}

}  // namespace
}  // namespace onnxar::testing
