// What only POSIX systems have: numbers of errors, pipes, interrupted calls, modes, whom to trust in shared folders.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "onnxar/bytes.h"
#include "os/error.h"
#include "os/file.h"
#include "os/folder.h"
#include "os/posix/native.h"
#include "support/system_calls.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using os::Access;
using os::File;
using os::FileKind;
using os::Reason;

File opened_at(const fs::path& path, Access access = Access::read) {
  std::error_code failed;
  File file = os::open(path, access, failed);
  EXPECT_EQ(file.valid(), !failed) << failed.message();
  return file;
}

TEST(PosixReason, MapsEachNumberThatCallersDistinguish) {
  const std::pair<int, Reason> reasons[] = {
      {0, Reason::none},
      {ENOENT, Reason::not_found},
      {ENOTDIR, Reason::not_found},
      {EEXIST, Reason::exists},
      {EACCES, Reason::permission},
      {EPERM, Reason::permission},
      {EROFS, Reason::permission},
      {ENOSPC, Reason::disk_full},
      {EDQUOT, Reason::disk_full},
      {EISDIR, Reason::is_folder},
      {EXDEV, Reason::outside},
      {ELOOP, Reason::too_many_links},
      {EFBIG, Reason::too_large},
      {EFAULT, Reason::unreadable_bytes},
      {ENOSYS, Reason::unsupported},
      {EOPNOTSUPP, Reason::unsupported},
      {EIO, Reason::other},
  };
  for (const auto& [number, reason] : reasons) {
    EXPECT_EQ(os::reason_of(os::error_of(number)), reason) << number;
  }
}

TEST(Open, DoesNotWaitForTheOtherEndOfAPipe) {
  const TempDir folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  std::error_code failed;
  EXPECT_EQ(os::status_of(opened_at(folder / "fifo"), failed).kind, FileKind::other);
}

TEST(Interrupted, CallsAreRepeated) {
  const TempDir folder;
  const File file = opened_at(folder.write_file("a", "0123"), Access::read_and_write);
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

// We trust our own links and those of the folder's owner.
TEST(LinkTrust, FollowsOnlyTrustedLinksInWorldWritableFolder) {
  constexpr std::uint32_t sticky = 01777, ours = 1000, owner = 2000, stranger = 3000;
  EXPECT_TRUE(os::is_trusted_link(sticky, owner, ours, ours));
  EXPECT_TRUE(os::is_trusted_link(sticky, owner, owner, ours));
  EXPECT_FALSE(os::is_trusted_link(sticky, owner, stranger, ours));
  EXPECT_FALSE(os::is_trusted_link(sticky, owner, stranger, 0));
  EXPECT_TRUE(os::is_trusted_link(0777, owner, stranger, ours));
  EXPECT_TRUE(os::is_trusted_link(01775, owner, stranger, ours));
}

}  // namespace
}  // namespace onnxar::testing
