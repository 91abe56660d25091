// Files on POSIX systems: pipes, calls that are interrupted, and modes.
#include <gtest/gtest.h>

#include <cerrno>

#include "onnxar/bytes.h"
#include "os/file.h"
#include "os/file_at.h"
#include "os/folder.h"
#include "support/system_calls.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using os::Access;
using os::File;
using os::FileKind;

TEST(Open, DoesNotWaitForTheOtherEndOfAPipe) {
  const TempDir folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  std::error_code failed;
  EXPECT_EQ(os::status_of(file_at(folder / "fifo"), failed).kind, FileKind::other);
}

TEST(Interrupted, CallsAreRepeated) {
  const TempDir folder;
  const File file = file_at(folder.write_file("a", "0123"), Access::read_and_write);
  FileCallLog log;
  int interruptions = 0;
  log.fail = [&interruptions](const FileCall&) { return ++interruptions % 3 == 0 ? 0 : EINTR; };
  std::error_code failed;
  EXPECT_EQ(os::write_at(file, 0, as_bytes("ab"), {}, failed), 2U);
  EXPECT_FALSE(failed);
  EXPECT_FALSE(os::set_size(file, 3));
  EXPECT_FALSE(os::sync(file));
  EXPECT_EQ(interruptions, 9);
  EXPECT_EQ(folder.read_text("a"), "ab2");
}

TEST(KeepMode, DropsSetIds) {
  const TempDir root;
  std::error_code failed;
  const File folder = os::open_folder(root.path(), failed);
  fs::permissions(root.write_file("old", "old"), fs::perms(06751U));
  const File file = os::create_new(folder, "new", failed);
  ASSERT_FALSE(failed);
  for (const char* name : {"old", "none"}) {
    EXPECT_FALSE(os::keep_mode(file, folder, name));
    EXPECT_EQ(fs::status(root / "new").permissions(), fs::perms(0751U)) << name;
  }
}

}  // namespace
}  // namespace onnxar::testing
