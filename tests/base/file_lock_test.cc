// Locks of files that an output may replace.
#include "base/file_lock.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/open_file.h"
#include "base/paths.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

TEST(LockForReplacing, DoesNotLockAMissingFile) {
  const TempDir folder;
  EXPECT_FALSE(base::lock_for_replacing(folder / "none").valid());
  EXPECT_FALSE(base::lock_for_replacing(folder.path()).valid());
}

TEST(LockForReplacing, FileThatIsEditedIsBusy) {
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", "text");
  const os::File editor = base::open_file(path, os::Access::read_and_write);
  ASSERT_EQ(os::try_lock(editor, os::Lock::exclusive), os::Locking::done);
  expect_error(error_if_any([&] { return base::lock_for_replacing(path); }),
               {.code = Code::archive_busy, .path = path});
}

TEST(RenewLock, FollowsTheNameToItsNewFile) {
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", "text");
  os::File lock = base::lock_for_replacing(path);
  base::renew_lock(lock, path);
  EXPECT_TRUE(base::leads_to(path, lock));
  replace_file(folder.write_file("new", "other"), path);
  EXPECT_FALSE(base::leads_to(path, lock));
  base::renew_lock(lock, path);
  EXPECT_TRUE(base::leads_to(path, lock));
}

TEST(RenewLock, KeepsTheLockIfNothingHasTheName) {
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", "text");
  os::File lock = base::lock_for_replacing(path);
  std::filesystem::rename(path, folder / "aside");
  base::renew_lock(lock, path);
  EXPECT_TRUE(base::leads_to(folder / "aside", lock));
}

}  // namespace
}  // namespace onnxar::testing
