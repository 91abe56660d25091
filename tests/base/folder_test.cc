// Tests folders that are held open.
#include "base/folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

using base::Folder;

TEST(Folder, StaysTheOneThatWasOpened) {
  const TempDir temp;
  std::filesystem::create_directory(temp / "a");
  const auto folder = Folder::open(temp / "a");
  std::filesystem::rename(temp / "a", temp / "moved");
  std::filesystem::create_directory(temp / "a");
  ASSERT_TRUE(Folder::make(*folder, "b"));
  EXPECT_TRUE(std::filesystem::is_directory(temp / "moved/b"));
  EXPECT_FALSE(std::filesystem::exists(temp / "a/b"));
}

TEST(Folder, OfTheCallerCostsNoDescriptorPerUse) {
  const TempDir temp;
  const auto folder = Folder::open(temp.path());
  const os::Handle first = folder->handle();
  EXPECT_EQ(first, os::Handle(folder->handle()));
  EXPECT_NE(first, folder->reopen().get());
}

TEST(Folder, DoesNotMakeAnExistingName) {
  const TempDir temp;
  temp.write_file("b", "x");
  const auto folder = Folder::open(temp.path());
  EXPECT_FALSE(Folder::make(*folder, "b"));
  os::File here = folder->reopen();
  EXPECT_EQ(Folder::make_in(folder, "b", here), nullptr);
}

TEST(Folder, DetectsThatAnInnerFolderWasSwapped) {
  const TempDir temp;
  const auto folder = Folder::open(temp.path());
  ASSERT_TRUE(Folder::make(*folder, "b"));
  const auto inner = Folder::open_in(folder, "b");
  std::filesystem::rename(temp / "b", temp / "c");
  EXPECT_EQ(code_of([&] { return inner->handle(); }), Code::io_changed);
  std::filesystem::create_directory(temp / "b");
  EXPECT_EQ(code_of([&] { return inner->handle(); }), Code::io_changed);
}

TEST(Folder, LinksBeneathAreNotFollowed) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir temp;
  std::filesystem::create_directory(temp / "real");
  make_symlink("real", temp / "link");
  EXPECT_TRUE(error_if_any([&] { return Folder::open_in(Folder::open(temp.path()), "link"); }));
  EXPECT_EQ(code_of([&] { return Folder::open_in(Folder::open(temp.path()), "missing"); }), Code::io_changed);
}

TEST(Folder, NestedFoldersAreEnteredAndLeft) {
  const TempDir temp;
  const auto outer = Folder::open(temp.path());
  os::File here = outer->reopen();
  const auto inner = Folder::make_in(outer, "a", here);
  ASSERT_NE(inner, nullptr);
  EXPECT_TRUE(inner->leave(here));
  EXPECT_TRUE(inner->enter(here));
  EXPECT_TRUE(inner->leave(here));
  std::filesystem::rename(temp / "a", temp / "b");
  std::filesystem::create_directory(temp / "a");
  EXPECT_FALSE(inner->enter(here));
}

TEST(Folder, OnlyAnEmptyFolderIsRemoved) {
  const TempDir temp;
  temp.write_file("a/f", "x");
  const auto outer = Folder::open(temp.path());
  const auto inner = Folder::open_in(outer, "a");
  EXPECT_FALSE(inner->is_empty());
  outer->remove_folder("a");
  EXPECT_TRUE(std::filesystem::exists(temp / "a/f"));
  inner->remove_file("f");
  EXPECT_TRUE(inner->is_empty());
  outer->remove_folder("a");
  EXPECT_FALSE(std::filesystem::exists(temp / "a"));
}

}  // namespace
}  // namespace onnxar::testing
