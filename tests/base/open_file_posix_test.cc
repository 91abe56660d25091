// Files that only the permissions of POSIX systems keep from being written to, and names that cannot be examined.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/open_file.h"
#include "base/paths.h"
#include "support/posix/child_process.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using os::Access;

TEST(OpenFile, WritingAReadOnlyFileIsAPermissionError) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  fs::permissions(path, fs::perms::owner_read | fs::perms::others_read);
  fs::permissions(folder.path(), fs::perms::others_exec, fs::perm_options::add);
  const auto code_of_opening = [&](Access access) {
    return code_of([&] { return base::open_file(path, access).valid(); });
  };
  EXPECT_EQ(as_ordinary_user([&] {
              const bool readable = !code_of_opening(Access::read);
              return readable && code_of_opening(Access::read_and_write) == Code::io_permission ? child_passed : 1;
            }),
            child_passed);
}

TEST(ExamineFile, ThatHasBytesButNoSizeIsNotMapped) {
  const fs::path path = "/proc/self/status";
  if (!fs::exists(path)) GTEST_SKIP() << "needs /proc";
  const os::File file = base::open_file(path, Access::read);
  EXPECT_EQ(code_of([&] { return base::examine(file, {}, path).length; }), Code::io_not_a_file);
}

// The writer is as fast as the two calls that look for a size and for a byte, so some of the files grow between them.
TEST(ExamineFile, AcceptsFileThatGetsItsFirstBytes) {
  const TempDir folder;
  std::vector<os::File> files;
  for (int i = 0; i < 500; ++i) {
    files.push_back(base::open_file(folder.write_file(std::to_string(i), ""), Access::read_and_write));
  }
  std::atomic<std::size_t> turn = 0;
  std::thread writer([&] {
    for (std::size_t i = 0; i < files.size(); ++i) {
      while (turn < i + 1) std::this_thread::yield();
      const std::byte byte{'x'};
      std::error_code failed;
      os::write_at(files[i], 0, std::span(&byte, 1), {}, failed);
    }
  });
  std::size_t refused = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    turn = i + 1;
    std::uint64_t length = 0;
    while (length == 0) {
      const auto code = code_of([&] { return length = base::examine(files[i], {}, "a").length; });
      refused += code ? 1U : 0U;
    }
  }
  writer.join();
  EXPECT_EQ(refused, 0U);
}

// Such a file is not reported as missing.
TEST(FileIdentity, OfUnexaminableNameIsAnError) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  const fs::path bad = folder / std::string(300, 'n');  // ENAMETOOLONG
  EXPECT_EQ(code_of([&] { return base::are_same(path, bad); }), Code::io_failed);
  EXPECT_EQ(code_of([&] { return base::are_same(bad, path); }), Code::io_failed);
  EXPECT_EQ(code_of([&] { return base::leads_to(bad, base::open_file(path, Access::read)); }), Code::io_failed);
  EXPECT_EQ(code_of([&] { return base::is_folder(bad); }), Code::io_failed);
}

}  // namespace
}  // namespace onnxar::testing
