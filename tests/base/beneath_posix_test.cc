// Links of /proc, and kernels that cannot open files beneath a folder in one step.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <string>

#include "base/beneath.h"
#include "beneath_folders.h"
#include "support/emulation.h"
#include "support/posix/child_process.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST(OpenBeneath, MagicLinksAreRefused) {
  ONNXAR_NATIVELY("know openat2, which refuses magic links");
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

/// Makes openat2 fail from now on as an unknown system call. qemu-user does not know it anyway.
bool forget_openat2() {
  if (runs_under_qemu()) return true;
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
    expect(folders.open("dangling"), "missing");
    expect(folders.open("to_sub/none"), "missing");
    expect(folders.open("leaves_to_nothing"), "outside");
    expect(folders.open("leaves_by_folder/none"), "outside");
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
