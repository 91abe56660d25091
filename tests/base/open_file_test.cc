// Opening files, with errors of this library.
#include "base/open_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/paths.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using os::Access;
using os::File;

TEST(OpenFile, ReportsTheReason) {
  const TempDir folder;
  const auto code_of_opening = [](const fs::path& path, Access access) {
    return code_of([&] { return base::open_file(path, access).valid(); });
  };
  EXPECT_EQ(code_of_opening(folder / "none", Access::read), Code::io_not_found);
  EXPECT_EQ(code_of_opening(folder.path(), Access::read_and_write), Code::io_not_a_file);
}

TEST(FileIdentity, IsTheSameForAllNamesOfAFile) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  fs::create_hard_link(path, folder / "hard");
  make_symlink("a", folder / "soft");
  const File file = base::open_file(path, Access::read);
  for (const std::string name : {"a", "hard", "soft"}) {
    EXPECT_TRUE(base::leads_to(folder / name, file));
    EXPECT_TRUE(base::are_same(folder / name, path));
  }
  const fs::path other = folder.write_file("b", "text");
  for (const fs::path& path_of_other : {other, folder / "none"}) {
    EXPECT_FALSE(base::leads_to(path_of_other, file));
    EXPECT_FALSE(base::are_same(path_of_other, path));
    EXPECT_FALSE(base::are_same(path, path_of_other));
  }
  EXPECT_FALSE(base::are_same(folder / "none", folder / "none"));
}

TEST(Duplicate, OfInvalidHandleIsAnError) {
  EXPECT_EQ(code_of([] { return base::duplicate(os::Handle::none).valid(); }), Code::io_failed);
}

TEST(ReadFully, ReportsShortFileUnlikeAnUnreadableOne) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  const File file = base::open_file(path, Access::read);
  std::array<std::byte, 8> target{};
  const auto shortened = error_if_any([&] { base::read_fully(file, target, 0, path); });
  ASSERT_TRUE(shortened);
  EXPECT_EQ(shortened->code(), Code::io_changed) << "reading the file again helps";
  EXPECT_THAT(shortened->message(), ::testing::HasSubstr("shortened to 4 bytes"));
  const auto unreadable = error_if_any([&] { base::read_fully(os::Handle::none, target, 0, path); });
  ASSERT_TRUE(unreadable);
  EXPECT_THAT(unreadable->message(), ::testing::StartsWith("cannot read"));
}

}  // namespace
}  // namespace onnxar::testing
