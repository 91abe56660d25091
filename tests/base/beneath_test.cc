// Opening files that must lie in a folder: no path leads out, except through the links of a cache.
#include "base/beneath.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "base/mapped_file.h"
#include "os/error.h"
#include "support/child_process.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

std::string text_at(const fs::path& folder, const fs::path& second, const fs::path& relative) {
  std::error_code failed;
  const os::File file = base::open_beneath(folder, second, relative, failed);
  EXPECT_EQ(file.valid(), !failed);
  if (failed) {
    const os::Reason reason = os::reason_of(failed);
    return reason == os::Reason::outside ? "outside" : (reason == os::Reason::not_found ? "missing" : "refused");
  }
  const auto mapping = base::MappedFile::map(file, relative);
  return std::string(as_text(mapping.bytes()));
}

/// in/a, in/sub/b, out/secret, and links between them.
struct Folders {
  Folders() {
    dir.write_file("in/a", "a");
    dir.write_file("in/sub/b", "b");
    dir.write_file("out/secret", "secret");
    dir.write_file("inside/c", "c");  // its path begins with that of `in`
    link("a", "in/to_a");
    link("sub/../a", "in/round_to_a");
    link("sub", "in/to_sub");
    link("../../in/a", "in/sub/out_and_in");
    link("../out/secret", "in/leaves");
    link("../out", "in/leaves_by_folder");
    link((dir / "out/secret").c_str(), "in/absolute");
    link((dir / "in/a").c_str(), "in/absolute_to_inside");
    link("nowhere", "in/dangling");
  }

  void link(const char* target, std::string_view name) const { fs::create_symlink(target, dir / name); }
  [[nodiscard]] fs::path real(std::string_view name) const { return fs::canonical(dir.path()) / name; }
  [[nodiscard]] std::string open(const fs::path& relative) const { return text_at(real("in"), real("in"), relative); }
  [[nodiscard]] std::string open_with_cache(const fs::path& relative) const {
    return text_at(real("in"), real("out"), relative);
  }

  TempDir dir;
};

TEST(OpenBeneath, FilesInTheFolderAreOpened) {
  const Folders folders;
  EXPECT_EQ(folders.open("a"), "a");
  EXPECT_EQ(folders.open("sub/b"), "b");
  EXPECT_EQ(folders.open("./sub/./b"), "b");
}

TEST(OpenBeneath, MissingFilesAreMissing) {
  const Folders folders;
  EXPECT_EQ(folders.open("none"), "missing");
  EXPECT_EQ(folders.open("sub/none"), "missing");
  EXPECT_EQ(folders.open("dangling"), "missing");
  EXPECT_EQ(text_at(folders.real("none"), folders.real("none"), "a"), "missing");
}

TEST(OpenBeneath, DotDotMayNotLeave) {
  const Folders folders;
  for (const char* const way : {"../out/secret", "..", "sub/../../out/secret", "../inside/c", "sub/../../in/a"}) {
    EXPECT_EQ(folders.open(way), "outside") << way;
    EXPECT_EQ(folders.open_with_cache(way), "outside") << way;
  }
  EXPECT_EQ(folders.open("sub/../a"), "a");
}

TEST(OpenBeneath, AbsolutePathsAreOutside) {
  const Folders folders;
  EXPECT_EQ(folders.open(folders.real("in/a")), "outside");
  EXPECT_EQ(folders.open_with_cache(folders.real("out/secret")), "outside");
  EXPECT_EQ(folders.open("/etc/passwd"), "outside");
}

TEST(OpenBeneath, LinksThatStayAreFollowed) {
  const Folders folders;
  EXPECT_EQ(folders.open("to_a"), "a");
  EXPECT_EQ(folders.open("round_to_a"), "a");
  EXPECT_EQ(folders.open("to_sub/b"), "b");
}

TEST(OpenBeneath, LinksThatLeaveAreOutside) {
  const Folders folders;
  for (const char* const way : {"leaves", "leaves_by_folder/secret", "absolute"}) {
    EXPECT_EQ(folders.open(way), "outside") << way;
  }
}

TEST(OpenBeneath, LinksThatLeaveAreFollowedIntoTheSecondFolder) {
  const Folders folders;
  EXPECT_EQ(folders.open_with_cache("leaves"), "secret");
  EXPECT_EQ(folders.open_with_cache("leaves_by_folder/secret"), "secret");
  EXPECT_EQ(folders.open_with_cache("absolute"), "secret");
  EXPECT_EQ(folders.open_with_cache("a"), "a");
}

TEST(OpenBeneath, LinksThatComeBackToTheFolderAreFollowedWhenItIsTheSecondToo) {
  const Folders folders;
  EXPECT_EQ(folders.open("sub/out_and_in"), "a");
  EXPECT_EQ(folders.open("absolute_to_inside"), "a");
}

TEST(OpenBeneath, SecondFolderIsNotMatchedByTheStartOfItsName) {
  const Folders folders;
  folders.link("../inside/c", "in/beside");
  EXPECT_EQ(text_at(folders.real("in"), folders.real("ins"), "beside"), "outside");
  EXPECT_EQ(text_at(folders.real("in"), folders.real("inside"), "beside"), "c");
  EXPECT_EQ(text_at(folders.real("in"), "", "beside"), "outside");
}

// models--x/snapshots/REVISION/model.onnx and weights.bin are links to models--x/blobs/HASH.
TEST(OpenBeneath, CacheOfLinksIntoOneFolderOfBlobsIsRead) {
  const TempDir dir;
  dir.write_file("blobs/0123abcd", "weights");
  fs::create_directories(dir / "snapshots/rev/onnx");
  fs::create_symlink("../../blobs/0123abcd", dir / "snapshots/rev/weights.bin");
  fs::create_symlink("../../../blobs/0123abcd", dir / "snapshots/rev/onnx/more.bin");
  const fs::path root = fs::canonical(dir.path());
  EXPECT_EQ(text_at(root / "snapshots/rev", root / "blobs", "weights.bin"), "weights");
  EXPECT_EQ(text_at(root / "snapshots/rev", root / "blobs", "onnx/more.bin"), "weights");
  EXPECT_EQ(text_at(root / "snapshots/rev", root / "blobs", "../../blobs/0123abcd"), "outside");
}

TEST(OpenBeneath, MagicLinksAreRefused) {
  const Folders folders;
  const fs::path self = fs::canonical("/proc/self");
  std::error_code failed;
  const os::File open_file = base::open_beneath(folders.real("in"), folders.real("in"), "a", failed);
  ASSERT_TRUE(open_file.valid());
  const fs::path magic = fs::path("fd") / std::to_string(static_cast<int>(open_file.get()));
  EXPECT_NE(text_at(self, self, magic), "a");
  EXPECT_NE(text_at(self, folders.real("in"), magic), "a");
  EXPECT_FALSE(base::open_beneath(self, self, "exe", failed).valid());
  EXPECT_FALSE(base::open_beneath(self, self, "cwd/.", failed).valid());
}

/// Makes openat2 fail from now on as an unknown system call.
bool forget_openat2() {
  std::array<sock_filter, 4> code = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{code.size(), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Runs the checks without openat2, and returns the number of failures.
template <typename Checks>
int failures_on_old_kernel(const Checks& checks) {
  constexpr int no_filter = 200;
  return in_child([&] {
    if (!forget_openat2()) return no_filter;
    int failures = 0;
    checks([&failures](const std::string& got, const std::string& wanted) {
      if (got == wanted) return;
      std::cerr << "got \"" << got << "\" instead of \"" << wanted << "\"\n";
      ++failures;
    });
    return failures;
  });
}

TEST(OpenBeneath, OldKernelsOpenFilesAndLeaveNoFolderEither) {
  const Folders folders;
  const int failures = failures_on_old_kernel([&](const auto& expect) {
    expect(folders.open("a"), "a");
    expect(folders.open("sub/b"), "b");
    expect(folders.open("none"), "missing");
    expect(folders.open("../out/secret"), "outside");
    expect(folders.open("sub/../../out/secret"), "outside");
    expect(folders.open("/etc/passwd"), "outside");
    expect(folders.open("leaves"), "outside");
    expect(folders.open("absolute"), "outside");
  });
  EXPECT_EQ(failures, 0);
}

TEST(OpenBeneath, OldKernelsFollowNoLinkToAFolderOutside) {
  const Folders folders;
  const int failures =
      failures_on_old_kernel([&](const auto& expect) { expect(folders.open("leaves_by_folder/secret"), "outside"); });
  EXPECT_EQ(failures, 0);
}

TEST(OpenBeneath, OldKernelsReadCachesToo) {
  const Folders folders;
  const int failures = failures_on_old_kernel([&](const auto& expect) {
    expect(folders.open_with_cache("leaves"), "secret");
    expect(folders.open_with_cache("absolute"), "secret");
  });
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace onnxar::testing
