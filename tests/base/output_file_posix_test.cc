// What OutputFile does with modes, and where files cannot be nameless.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/output_files.h"
#include "support/posix/child_process.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::Existing;
using base::OutputFile;
using base::Sync;

fs::perms mode_of(const fs::path& path) { return fs::status(path).permissions(); }

TEST(OutputFile, SetIdBitsOfTheTargetAreDropped) {
  const TempDir folder;
  folder.write_file("a", "old");
  fs::permissions(folder / "a", fs::perms(06755U));
  OutputFile file = OutputFile::create(folder / "a", Existing::replace);
  file.publish(Sync::none);
  EXPECT_EQ(mode_of(folder / "a"), fs::perms(0755U));
}

TEST(OutputFile, ReplacedTargetKeepsItsMode) {
  const TempDir folder;
  for (const unsigned mode : {0600U, 0444U, 0755U}) {
    folder.write_file("a", "old");
    fs::permissions(folder / "a", fs::perms(mode));
    written(folder / "a", "new", Existing::replace).publish(Sync::full);
    EXPECT_EQ(folder.read_text("a"), "new");
    EXPECT_EQ(mode_of(folder / "a"), fs::perms(mode));
    fs::remove(folder / "a");
  }
}

TEST(OutputFile, NewFileFollowsTheUmask) {
  const TempDir folder;
  for (const unsigned mask : {022U, 077U, 0U}) {
    const mode_t old = ::umask(mask);
    written(folder / "a", "text", Existing::refuse).publish(Sync::none);
    written(folder / "b", "text", Existing::replace).publish(Sync::none);
    ::umask(old);
    EXPECT_EQ(mode_of(folder / "a"), fs::perms(0666U & ~mask));
    EXPECT_EQ(mode_of(folder / "b"), fs::perms(0666U & ~mask));
    fs::remove(folder / "a");
    fs::remove(folder / "b");
  }
}

TEST(OutputFile, DeviceIsRefused) {
  for (const Existing existing : {Existing::refuse, Existing::replace}) {
    EXPECT_EQ(code_of([&] { return OutputFile::create("/dev/null", existing); }), Code::io_not_a_file);
  }
}

TEST(OutputFile, FolderMustBeWritable) {
  const TempDir folder;
  using fs::perms;
  fs::permissions(folder.path(), perms::owner_read | perms::owner_exec | perms::others_read | perms::others_exec);
  const int code = as_ordinary_user([&] {
    return static_cast<int>(code_of([&] { return OutputFile::create(folder / "a", Existing::refuse); }).value());
  });
  EXPECT_EQ(code, static_cast<int>(Code::io_permission));
}

/// Without /proc a nameless file cannot be named, so the library treats the file system as one without nameless files.
bool hide_proc() {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", "/proc", "tmpfs", 0, nullptr) == 0;
}

enum HiddenNameStep : std::uint8_t { passed, no_mount, no_hidden_name, not_published, not_refused, not_discarded };

HiddenNameStep try_hidden_names(const TempDir& folder) {
  if (!hide_proc()) return no_mount;
  OutputFile file = written(folder / "a", "text");
  const Strings meanwhile = folder.file_names();
  if (meanwhile.size() != 1 || !meanwhile[0].starts_with(".a.") || !meanwhile[0].ends_with(".tmp")) {
    return no_hidden_name;
  }
  file.publish(Sync::full);
  if (folder.file_names() != Strings{"a"} || folder.read_text("a") != "text") return not_published;
  written(folder / "a", "new", Existing::replace).publish(Sync::none);
  if (folder.file_names() != Strings{"a"} || folder.read_text("a") != "new") return not_published;
  {
    OutputFile second = written(folder / "b", "mine");
    folder.write_file("b", "theirs");
    if (code_of_publishing(second) != Code::output_exists || folder.read_text("b") != "theirs") return not_refused;
  }
  {
    const OutputFile third = written(folder / "c", "text");
  }
  return folder.file_names() == Strings{"a", "b"} ? passed : not_discarded;
}

TEST(OutputFile, HiddenNameIsUsedWhereFilesCannotBeNameless) {
  const TempDir folder;
  const int step = in_child([&] { return try_hidden_names(folder); });
  if (step == no_mount) GTEST_SKIP() << "this user may not hide /proc in a mount namespace of its own";
  EXPECT_EQ(step, passed);
}

}  // namespace
}  // namespace onnxar::testing
