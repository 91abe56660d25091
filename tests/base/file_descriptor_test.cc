// Opening and locking files.
#include "base/file_descriptor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/child_process.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::Access;
using base::FileDescriptor;
using base::Lock;
using base::Locking;

TEST(OpenFile, SaysWhatIsWrong) {
  const TempDir folder;
  const auto code_of_opening = [](const fs::path& path, Access access) {
    return code_of([&] { return base::open_file(path, access).get(); });
  };
  EXPECT_EQ(code_of_opening(folder / "none", Access::read), Code::io_not_found);
  EXPECT_EQ(code_of_opening(folder.path(), Access::read_and_write), Code::io_not_a_file);
  const fs::path path = folder.write_file("a", "text");
  fs::permissions(path, fs::perms::owner_read | fs::perms::others_read);
  fs::permissions(folder.path(), fs::perms::others_exec, fs::perm_options::add);
  EXPECT_EQ(as_ordinary_user([&] {
              const bool readable = !code_of_opening(path, Access::read);
              return readable && code_of_opening(path, Access::read_and_write) == Code::io_permission ? 0 : 1;
            }),
            0);
}

TEST(FileIdentity, IsTheFilesWhateverNamesItHas) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  fs::create_hard_link(path, folder / "hard");
  fs::create_symlink("a", folder / "soft");
  const FileDescriptor file = base::open_file(path, Access::read);
  EXPECT_EQ(base::identity_of(file), base::identity_of(path));
  EXPECT_EQ(base::identity_of(folder / "hard"), base::identity_of(path));
  EXPECT_EQ(base::identity_of(folder / "soft"), base::identity_of(path));
  EXPECT_NE(base::identity_of(folder.write_file("b", "text")), base::identity_of(path));
  EXPECT_EQ(base::identity_of(folder / "none"), std::nullopt);
  EXPECT_EQ(base::identity_of(FileDescriptor()), std::nullopt);
}

TEST(TryLock, ManyShareAndOneExcludes) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  const FileDescriptor first = base::open_file(path, Access::read);
  const FileDescriptor second = base::open_file(path, Access::read_and_write);
  EXPECT_EQ(base::try_lock(first, Lock::shared), Locking::done);
  EXPECT_EQ(base::try_lock(second, Lock::shared), Locking::done);
  EXPECT_EQ(base::try_lock(second, Lock::exclusive), Locking::busy);
  EXPECT_EQ(base::try_lock(first, Lock::exclusive), Locking::done) << "failing to take more gives up what was there";
  EXPECT_EQ(base::try_lock(second, Lock::shared), Locking::busy);
}

TEST(TryLock, IsHeldUntilTheLastDuplicateIsClosed) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  const FileDescriptor other = base::open_file(path, Access::read);
  {
    FileDescriptor copy;
    {
      const FileDescriptor first = base::open_file(path, Access::read);
      ASSERT_EQ(base::try_lock(first, Lock::exclusive), Locking::done);
      copy = first.duplicate();
    }
    EXPECT_EQ(base::try_lock(other, Lock::shared), Locking::busy);
  }
  EXPECT_EQ(base::try_lock(other, Lock::shared), Locking::done);
}

TEST(TryLock, FailsOnWhatIsNotOpen) {
  EXPECT_EQ(base::try_lock(FileDescriptor(), Lock::shared), Locking::failed);
  EXPECT_EQ(code_of([] { return FileDescriptor().duplicate().get(); }), Code::io_failed);
}

}  // namespace
}  // namespace onnxar::testing
