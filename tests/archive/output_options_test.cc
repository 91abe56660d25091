// Options of outputs: which of them take the lock of the file that they replace.
#include "archive/output_options.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/open_file.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

TEST(OutputOptions, ReplaceAndSyncOnlyIfAsked) {
  EXPECT_EQ(existing_of({.overwrite = true}), base::Existing::replace);
  EXPECT_EQ(existing_of({.overwrite = false}), base::Existing::refuse);
  EXPECT_EQ(sync_of({.sync = true}), base::Sync::full);
  EXPECT_EQ(sync_of({.sync = false}), base::Sync::none);
}

TEST(LockOutput, OnlyAReplacedFileIsLocked) {
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", "text");
  EXPECT_TRUE(lock_output(path, {.overwrite = true}).valid());
  EXPECT_FALSE(lock_output(path, {.overwrite = false}).valid());
  EXPECT_FALSE(lock_output(path, {.overwrite = true, .dry_run = true}).valid());
  EXPECT_FALSE(lock_output(folder / "none", {.overwrite = true}).valid());
}

TEST(LockOutput, FileThatIsEditedIsBusy) {
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", "text");
  const os::File editor = base::open_file(path, os::Access::read_and_write);
  ASSERT_EQ(os::try_lock(editor, os::Lock::exclusive), os::Locking::done);
  EXPECT_EQ(code_of([&] { return lock_output(path, {.overwrite = true}); }), Code::archive_busy);
  EXPECT_EQ(code_of([&] { return lock_output(path, {.overwrite = true, .dry_run = true}); }), std::nullopt);
}

}  // namespace
}  // namespace onnxar::testing
