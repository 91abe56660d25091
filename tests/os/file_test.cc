// Open files: status, reading and writing at offsets, locks.
#include "os/file.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "onnxar/bytes.h"
#include "os/error.h"
#include "os/file_at.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using os::Access;
using os::File;
using os::FileKind;
using os::FileStatus;
using os::Lock;
using os::Locking;
using os::Reason;

Reason reason_of_opening(const fs::path& path, Access access) {
  std::error_code failed;
  EXPECT_FALSE(os::open(path, access, failed).valid());
  return os::reason_of(failed);
}

TEST(Open, SaysWhyNot) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  const fs::path file = folder.write_file("a", "text");
  EXPECT_EQ(reason_of_opening(folder / "none", Access::read), Reason::not_found);
  EXPECT_EQ(reason_of_opening(file / "b", Access::read), Reason::not_found);
  EXPECT_EQ(reason_of_opening(folder.path(), Access::read_and_write), Reason::is_folder);
  make_symlink("circle", folder / "circle");
  EXPECT_EQ(reason_of_opening(folder / "circle", Access::read), Reason::too_many_links);
}

TEST(Open, ClearsAnEarlierFailure) {
  const TempDir folder;
  std::error_code failed = std::make_error_code(std::errc::io_error);
  EXPECT_TRUE(os::open(folder.write_file("a", "text"), Access::read, failed).valid());
  EXPECT_FALSE(failed);
}

TEST(Reason, IsTheSameForTheErrorsOfTheStandardLibrary) {
  EXPECT_EQ(os::reason_of({}), Reason::none);
  std::error_code failed;
  static_cast<void>(fs::file_size("/none", failed));
  EXPECT_EQ(os::reason_of(failed), Reason::not_found);
  EXPECT_EQ(os::reason_of(std::make_error_code(std::errc::no_space_on_device)), Reason::disk_full);
  EXPECT_EQ(os::reason_of(std::make_error_code(std::errc::io_error)), Reason::other);
}

TEST(Status, ReportsKindAndSize) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  make_symlink("a", folder / "link");
  std::error_code failed;
  EXPECT_EQ(os::status_of(path, failed).kind, FileKind::regular);
  EXPECT_EQ(os::status_of(path, failed).size, 4U);
  EXPECT_EQ(os::status_of(folder.path(), failed).kind, FileKind::folder);
  EXPECT_EQ(os::status_of(folder / "link", failed), os::status_of(path, failed));
  EXPECT_EQ(os::status_of(file_at(path), failed), os::status_of(path, failed));
  EXPECT_EQ(os::link_status_of(folder / "link", failed).kind, FileKind::link);
  EXPECT_FALSE(failed);
  os::status_of(folder / "none", failed);
  EXPECT_EQ(os::reason_of(failed), Reason::not_found);
}

TEST(Status, ChangesWithTheFile) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  std::error_code failed;
  const FileStatus before = os::status_of(path, failed);
  folder.write_file("b", "text");
  fs::rename(folder / "b", path);
  EXPECT_NE(os::status_of(path, failed), before) << "another file";
  const FileStatus between = os::status_of(path, failed);
  fs::resize_file(path, 3);
  EXPECT_NE(os::status_of(path, failed), between);
}

TEST(ReadAt, StopsAtTheEndOfTheFile) {
  const TempDir folder;
  const File file = file_at(folder.write_file("a", "0123456789"));
  std::array<std::byte, 4> target{};
  std::error_code failed;
  EXPECT_EQ(os::read_fully_at(file, target, 3, failed), 4U);
  EXPECT_EQ(as_text(target), "3456");
  EXPECT_EQ(os::read_fully_at(file, target, 8, failed), 2U);
  EXPECT_EQ(os::read_at(file, target, 10, failed), 0U);
  EXPECT_FALSE(failed);
  EXPECT_EQ(os::read_fully_at(os::Handle::none, target, 0, failed), 0U);
  EXPECT_TRUE(failed);
}

TEST(WriteAt, WritesBothPartsAndSaysHowMuch) {
  const TempDir folder;
  const File file = file_at(folder.write_file("a", "0123456789"), Access::read_and_write);
  std::error_code failed;
  EXPECT_EQ(os::write_at(file, 2, as_bytes("ab"), as_bytes("cde"), failed), 5U);
  EXPECT_FALSE(failed);
  EXPECT_EQ(folder.read_text("a"), "01abcde789");
  EXPECT_EQ(os::write_at(file_at(folder / "a"), 0, as_bytes("x"), {}, failed), 0U);
  EXPECT_TRUE(failed) << "it is open for reading only";
}

TEST(SetSize, CutsAndExtends) {
  const TempDir folder;
  const File file = file_at(folder.write_file("a", "0123"), Access::read_and_write);
  EXPECT_FALSE(os::set_size(file, 2));
  EXPECT_EQ(folder.read_text("a"), "01");
  EXPECT_FALSE(os::set_size(file, 3));
  EXPECT_EQ(folder.read_text("a"), std::string("01\0", 3));
  EXPECT_FALSE(os::sync(file));
}

TEST(HandOver, LeavesTheFileOpen) {
  const TempDir folder;
  const File file = file_at(folder.write_file("a", "0123"), Access::read_and_write);
  EXPECT_FALSE(os::hand_over(file));
  EXPECT_FALSE(os::set_size(file, 2));
  EXPECT_TRUE(os::hand_over(os::Handle::none));
}

TEST(File, ClosesWhatItOwnsOnce) {
  const TempDir folder;
  File first = file_at(folder.write_file("a", "text"));
  const os::Handle handle = first;
  {
    const File second = std::move(first);
    EXPECT_EQ(second.get(), handle);
    EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): that is promised
  }
  std::error_code failed;
  os::status_of(handle, failed);
  EXPECT_EQ(failed, std::errc::bad_file_descriptor);
}

TEST(TryLock, ManyShareAndOneExcludes) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  const File first = file_at(path);
  const File second = file_at(path, Access::read_and_write);
  EXPECT_EQ(os::try_lock(first, Lock::shared), Locking::done);
  EXPECT_EQ(os::try_lock(second, Lock::shared), Locking::done);
  EXPECT_EQ(os::try_lock(second, Lock::exclusive), Locking::busy);
  EXPECT_EQ(os::try_lock(first, Lock::exclusive), Locking::done) << "failing to take more gives up what was there";
  EXPECT_EQ(os::try_lock(second, Lock::shared), Locking::busy);
}

TEST(TryLock, IsHeldUntilTheLastDuplicateIsClosed) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  const File other = file_at(path);
  {
    File copy;
    {
      const File first = file_at(path);
      ASSERT_EQ(os::try_lock(first, Lock::exclusive), Locking::done);
      std::error_code failed;
      copy = os::duplicate(first, failed);
    }
    EXPECT_EQ(os::try_lock(other, Lock::shared), Locking::busy);
  }
  EXPECT_EQ(os::try_lock(other, Lock::shared), Locking::done);
}

TEST(TryLock, FailsOnAnInvalidHandleWithAReason) {
  std::error_code failed;
  EXPECT_EQ(os::try_lock(os::Handle::none, Lock::shared, failed), Locking::failed);
  EXPECT_EQ(failed, std::errc::bad_file_descriptor);
}

}  // namespace
}  // namespace onnxar::testing
