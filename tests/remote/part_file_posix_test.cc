// Files in the place of a download that lead elsewhere, or that other users could write to; modes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "remote/part_file.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::Existing;

constexpr std::uint64_t size = 100;
constexpr mode_t all_modes = 0777;

/// Sets the umask for a test.
class Umask {
 public:
  explicit Umask(mode_t mask) : old_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(old_); }

 private:
  mode_t old_;
};

class PartFilePlace : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] PartFile opened() const {
    return {base::find_target(folder_ / "out", Existing::replace), "1", size, base::Sync::full};
  }
  [[nodiscard]] fs::path part() const { return folder_ / (std::string(".out") + GetParam()); }
  void expect_refused(Code code) const {
    EXPECT_EQ(code_of([this] { return opened(); }), code);
    EXPECT_EQ(folder_.read_text("victim"), "kept");
  }
  [[nodiscard]] mode_t mode_of(const fs::path& path) const {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & all_modes;
  }

  TempDir folder_;
  fs::path victim_ = folder_.write_file("victim", "kept");
};

TEST_P(PartFilePlace, RefusesHardLink) {
  fs::create_hard_link(victim_, part());
  expect_refused(Code::io_permission);
}

TEST_P(PartFilePlace, RefusesSymbolicLink) {
  fs::create_symlink(victim_, part());
  expect_refused(Code::io_not_a_file);
}

TEST_P(PartFilePlace, RefusesLinkToNothing) {
  fs::create_symlink(folder_ / "new", part());
  expect_refused(Code::io_not_a_file);
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

TEST_P(PartFilePlace, RefusesPipe) {
  ASSERT_TRUE(make_pipe(part()));
  expect_refused(Code::io_not_a_file);
}

TEST_P(PartFilePlace, RefusesFolder) {
  fs::create_directory(part());
  expect_refused(Code::io_not_a_file);
}

TEST_P(PartFilePlace, RefusesFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  fs::rename(victim_, part());
  fs::permissions(part(), fs::perms(0644));
  constexpr uid_t other = 12345;
  ASSERT_EQ(::chown(part().c_str(), other, other), 0);
  EXPECT_EQ(code_of([this] { return opened(); }), Code::io_permission);
}

TEST_P(PartFilePlace, RefusesFileThatOthersMayWrite) {
  for (const mode_t mode : {0620U, 0602U, 0666U}) {
    folder_.write_file(part().filename().string(), "");
    ASSERT_EQ(::chmod(part().c_str(), mode), 0);
    expect_refused(Code::io_permission);
  }
}

TEST_P(PartFilePlace, OnlyItsUserMayUseItWhileItGrows) {
  const Umask none(0);
  const PartFile file = opened();
  EXPECT_EQ(mode_of(part()), 0600U);
}

INSTANTIATE_TEST_SUITE_P(BothFiles, PartFilePlace, ::testing::Values(".part", ".part.list"));

class PartFileMode : public PartFilePlace {};

TEST_P(PartFileMode, FollowsTheUmaskInTheEnd) {
  for (const mode_t mask : {0U, 0002U, 0027U}) {
    const Umask set(mask);
    fs::remove(folder_ / "out");
    PartFile file = opened();
    file.write(0, pattern(size));
    file.publish(Existing::refuse);
    EXPECT_EQ(mode_of(folder_ / "out"), 0666U & ~mask);
  }
}

TEST_P(PartFileMode, IsThatOfTheReplacedFile) {
  folder_.write_file("out", "old");
  fs::permissions(folder_ / "out", fs::perms(0640));
  opened().publish(Existing::replace);
  EXPECT_EQ(mode_of(folder_ / "out"), 0640U);
}

INSTANTIATE_TEST_SUITE_P(Data, PartFileMode, ::testing::Values(".part"));

}  // namespace
}  // namespace onnxar::testing
