// Locks that cannot be asked for: what POSIX systems keep from a process, or let it run short of.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "base/file_lock.h"
#include "support/posix/child_process.h"
#include "support/refusal.h"
#include "support/sanitizers.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST(LockForReplacing, IsNotAskedForWhereTheFileMayNotBeRead) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", smallest_archive().bytes);
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_exec);
  fs::permissions(path, fs::perms::none);
  EXPECT_EQ(in_child([&] {
              fs::current_path(folder.path());  // the folders above may be closed to that user
              return as_ordinary_user([] { return base::lock_for_replacing("a").valid() ? 1 : child_passed; });
            }),
            child_passed);
}

TEST(LockForReplacing, FailsWhereAnEditOfTheFileMayGoUnnoticed) {
  if (has_address_sanitizer) GTEST_SKIP() << "the sanitizers look at addresses through a pipe, which takes descriptors";
  const TempDir folder;
  const fs::path path = folder.write_file("a", smallest_archive().bytes);
  EXPECT_EQ(in_child([&] {
              const rlimit none = {0, 0};
              if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return 1;
              return error_if_any([&] { return base::lock_for_replacing(path); }) ? child_passed : 2;
            }),
            child_passed);
}

}  // namespace
}  // namespace onnxar::testing
