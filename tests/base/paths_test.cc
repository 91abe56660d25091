// What paths lead to.
#include "base/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST(LeadsTo, InvalidHandleIsAnError) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  EXPECT_EQ(code_of([&] { return base::leads_to(path, os::Handle::none); }), Code::io_failed);
}

TEST(IsFolder, IsFalseForAFileAndBeneathIt) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  EXPECT_FALSE(base::is_folder(path));
  EXPECT_FALSE(base::is_folder(path / "beneath a file"));
  EXPECT_TRUE(base::is_folder(folder.path()));
}

TEST(EntriesIn, AreFilesAndFolders) {
  const TempDir folder;
  folder.write_file("a", "text");
  fs::create_directory(folder.path() / "b");
  std::vector<std::string> names;
  for (const auto& entry : base::entries_in(folder.path())) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(code_of([&] { return base::entries_in(folder.path() / "c"); }), Code::io_not_found);
}

TEST(FolderOf, IsThePathUpToTheNameOrTheCurrentFolder) {
  EXPECT_EQ(base::folder_of("folder/file"), "folder");
  EXPECT_EQ(base::folder_of("/file"), "/");
  EXPECT_EQ(base::folder_of("file"), ".");
  EXPECT_EQ(base::folder_of(""), ".");
}

}  // namespace
}  // namespace onnxar::testing
