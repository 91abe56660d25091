// Locks that cannot be asked for: what POSIX systems let a process run short of, or keep from it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "archive/opening.h"
#include "base/file_lock.h"
#include "base/open_file.h"
#include "onnxar/archive.h"
#include "support/emulation.h"
#include "support/posix/child_process.h"
#include "support/refusal.h"
#include "support/sanitizers.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

/// Bytes of memory that this process may address.
rlim_t address_space() {
  std::ifstream sizes("/proc/self/statm");
  rlim_t pages = 0;
  sizes >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

TEST(OpeningAnArchive, MachineFailureIsNotReportedAsAnEdit) {
  ONNXAR_NATIVELY("limit the memory of the program");
  const TempDir folder;
  const fs::path path = folder.write_file("a", smallest_builder(pattern(32 * mebibyte)).build());
  const os::File editor = base::open_file(path, os::Access::read_and_write);
  ASSERT_EQ(os::try_lock(editor, os::Lock::exclusive), os::Locking::done);
  EXPECT_EQ(in_child([&] {
              const rlimit little = {address_space() + 16 * mebibyte, RLIM_INFINITY};  // too little to map the file
              if (::setrlimit(RLIMIT_AS, &little) != 0) return 1;
              const auto code = code_of([&] { return Archive::open(path).size(); });
              return code && kind(*code) == Kind::io && code != Code::archive_busy ? child_passed : 2;
            }),
            child_passed);
}

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
