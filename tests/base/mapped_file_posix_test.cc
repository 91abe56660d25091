// Files that only the permissions of POSIX systems keep from being mapped.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/mapped_file.h"
#include "support/posix/child_process.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST(MappedFile, FileThatMayNotBeReadIsAMatterOfPermission) {
  const TempDir folder;
  const fs::path path = folder.write_file("secret", "text");
  fs::permissions(folder.path(), fs::perms::others_exec, fs::perm_options::add);
  fs::permissions(path, fs::perms::none);
  const int code =
      as_ordinary_user([&] { return static_cast<int>(code_of([&] { return base::MappedFile::open(path); }).value()); });
  EXPECT_EQ(code, static_cast<int>(Code::io_permission));
}

}  // namespace
}  // namespace onnxar::testing
