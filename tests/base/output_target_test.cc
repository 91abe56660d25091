// Where an output goes, and whether it may be written.
#include "base/output_target.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
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

OutputName name_in(const TempDir& folder, const std::string& name) {
  return OutputName({folder / name, Folder::open(folder.path()), name});
}

TEST(OutputName, ANewFileHasNoNameUntilItIsPublished) {
  const TempDir folder;
  OutputName name = name_in(folder, "a");
  os::File file = name.create();
  EXPECT_TRUE(testing::visible_names(folder).empty());
  name.publish(file, Existing::refuse);
  EXPECT_EQ(folder.file_names(), std::vector<std::string>{"a"});
  file = os::File();
  name.withdraw();
  EXPECT_TRUE(folder.file_names().empty());
}

TEST(OutputName, AHiddenNameIsRemovedUnlessTheFileIsPublished) {
  const TempDir folder;
  {
    OutputName name = name_in(folder, "a");
    const os::File file = name.create();
    name.hide(file);
    ASSERT_EQ(folder.file_names().size(), 1U);
    EXPECT_TRUE(folder.file_names()[0].starts_with(".a."));
    name.hide(file);  // it keeps the name that it has
    EXPECT_EQ(folder.file_names().size(), 1U);
  }
  EXPECT_TRUE(folder.file_names().empty());
}

TEST(OutputName, AHiddenNameIsNotCutWithinACharacter) {
  const TempDir folder;
  const std::string target = std::string(199, 'a') + "\xe6\xa8\xa1\xe5\x9e\x8b";
  OutputName name = name_in(folder, target);
  name.hide(name.create());
  const std::vector<std::string> names = folder.file_names();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_TRUE(is_utf8(names[0]));
  EXPECT_TRUE(names[0].starts_with("." + std::string(199, 'a') + "."));
}

TEST(OutputName, OnlyReplacingTakesANameThatExists) {
  const TempDir folder;
  folder.write_file("a", "old");
  OutputName name = name_in(folder, "a");
  const os::File file = name.create();
  EXPECT_EQ(code_of([&] { name.publish(file, Existing::refuse); }), Code::output_exists);
  name.hide(file);
  name.publish(file, Existing::replace);
  EXPECT_EQ(folder.read_text("a"), "");
}

}  // namespace
}  // namespace onnxar::base
