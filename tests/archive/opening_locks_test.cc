// Those who wait for the lock of an archive that is replaced meanwhile get the lock of the new file.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "archive/opening.h"
#include "base/file_lock.h"
#include "base/open_file.h"
#include "base/paths.h"
#include "onnxar/archive.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

class WaitingForLocks : public ::testing::TestWithParam<os::File (*)(const fs::path&)> {
 protected:
  TempDir folder_;
  fs::path path_ = folder_.write_file("a", smallest_archive().bytes);
};
INSTANTIATE_TEST_SUITE_P(Each, WaitingForLocks,
                         ::testing::Values(&lock_for_editing, &lock_for_planning, &base::lock_for_replacing));

TEST_P(WaitingForLocks, GetTheFileThatHasTheNameAfterwards) {
  os::File held = base::open_file(path_, os::Access::read_and_write);
  ASSERT_EQ(os::try_lock(held, os::Lock::exclusive), os::Locking::done);
  auto waiting = std::async(std::launch::async, GetParam(), path_);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it has opened the old file by now, or waits for none
  replace_file(folder_.write_file("new", smallest_archive().bytes), path_);
  held = os::File();
  const os::File locked = waiting.get();
  EXPECT_TRUE(base::leads_to(path_, locked));
}

TEST_P(WaitingForLocks, GiveUpAfterASecond) {
  const os::File held = base::open_file(path_, os::Access::read_and_write);
  ASSERT_EQ(os::try_lock(held, os::Lock::exclusive), os::Locking::done);
  EXPECT_EQ(code_of([this] { return GetParam()(path_).valid(); }), Code::archive_busy);
}

}  // namespace
}  // namespace onnxar::testing
