// What paths lead to.
#include "base/paths.h"

#include <gtest/gtest.h>

#include <filesystem>

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

TEST(FolderOf, IsThePathUpToTheNameOrTheCurrentFolder) {
  EXPECT_EQ(base::folder_of("folder/file"), "folder");
  EXPECT_EQ(base::folder_of("/file"), "/");
  EXPECT_EQ(base::folder_of("file"), ".");
  EXPECT_EQ(base::folder_of(""), ".");
}

}  // namespace
}  // namespace onnxar::testing
