// Where an output goes, and whether it may be written.
#include "base/output_target.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::base {
namespace {

namespace fs = std::filesystem;
using onnxar::testing::code_of;
using onnxar::testing::make_symlink;
using onnxar::testing::TempDir;

std::optional<Code> code_of_target(const fs::path& path, Existing existing = Existing::refuse) {
  return code_of([&] { return find_target(path, existing); });
}

TEST(FindTarget, IsANameInAnOpenFolder) {
  const TempDir folder;
  const OutputTarget target = find_target(folder / "a", Existing::refuse);
  EXPECT_EQ(target.name, "a");
  EXPECT_EQ(target.path, folder / "a");
  EXPECT_EQ(target.folder->path(), folder.path());
}

TEST(FindTarget, FollowsLinksToTheirEnd) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  fs::create_directory(folder / "inner");
  make_symlink("second", folder / "first");
  make_symlink("inner/third", folder / "second");
  const OutputTarget target = find_target(folder / "first", Existing::refuse);
  EXPECT_EQ(target.name, "third");
  EXPECT_EQ(target.path, folder / "inner/third");
  make_symlink("circle", folder / "circle");
  EXPECT_EQ(code_of_target(folder / "circle"), Code::io_failed);
}

TEST(FindTarget, ExistingFilesAreRefusedUnlessTheyAreReplaced) {
  const TempDir folder;
  folder.write_file("a", "old");
  fs::create_directory(folder / "inner");
  EXPECT_EQ(code_of_target(folder / "a"), Code::output_exists);
  EXPECT_EQ(code_of_target(folder / "a", Existing::replace), std::nullopt);
  EXPECT_EQ(code_of_target(folder / "inner/", Existing::replace), Code::io_not_a_file);
  EXPECT_EQ(code_of_target(folder / "none/a"), Code::io_not_found);
  EXPECT_EQ(code_of_target(folder / "a" / "beneath a file"), Code::io_not_found);
  EXPECT_EQ(code_of_target("/dev/null", Existing::replace), Code::io_not_a_file);
  const bool has_pipe = testing::make_pipe(folder / "pipe");
  for (const Existing existing : {Existing::refuse, Existing::replace}) {
    EXPECT_EQ(code_of_target(folder / "inner", existing), Code::io_not_a_file);
    EXPECT_EQ(code_of_target(folder / "pipe", existing), has_pipe ? std::optional(Code::io_not_a_file) : std::nullopt);
  }
}

}  // namespace
}  // namespace onnxar::base
