#include "base/paths.h"

#include <gtest/gtest.h>

namespace onnxar::testing {
namespace {

TEST(FolderOf, IsThePathUpToTheNameOrTheCurrentFolder) {
  EXPECT_EQ(base::folder_of("folder/file"), "folder");
  EXPECT_EQ(base::folder_of("/file"), "/");
  EXPECT_EQ(base::folder_of("file"), ".");
  EXPECT_EQ(base::folder_of(""), ".");
}

}  // namespace
}  // namespace onnxar::testing
