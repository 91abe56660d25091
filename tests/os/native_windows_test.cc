// What only Windows has: names that no file can have, long paths, and the byte that is locked.
#include <gtest/gtest.h>

#include <filesystem>

#include "os/file.h"
#include "os/names.h"
#include "os/windows/native.h"
#include "support/temp_dir.h"

namespace onnxar::os {
namespace {

TEST(PlainNames, AreNoDevicesNoStreamsAndKeepTheirEnd) {
  for (const wchar_t* name :
       {L"a", L"model.onnx", L".hidden", L"console", L"COM", L"COM10", L"LPTX", L"a b", L"\u00e4"}) {
    EXPECT_TRUE(is_plain_name(name)) << text_of(name);
  }
  for (const wchar_t* name : {L"", L"a:b", L"a.", L"a ", L"..", L"NUL", L"nul.txt", L"con", L"COM1", L"lpt9.onnx",
                              L"COM\u00b9", L"aux .bin", L"a/b", L"a\\b", L"a*", L"a?", L"a|", L"a\"", L"a\t"}) {
    EXPECT_FALSE(is_plain_name(name)) << text_of(name);
  }
}

TEST(LongPath, IsAbsoluteAndHasThePrefix) {
  EXPECT_TRUE(long_path("a").starts_with(LR"(\\?\)"));
  EXPECT_TRUE(long_path("a").ends_with(LR"(\a)"));
  EXPECT_EQ(long_path(LR"(C:\a\..\b/c)"), LR"(\\?\C:\b\c)");
  EXPECT_EQ(long_path(LR"(\\server\share\a)"), LR"(\\?\UNC\server\share\a)");
  EXPECT_EQ(long_path(LR"(\\?\C:\a)"), LR"(\\?\C:\a)");
}

OVERLAPPED byte_at(std::uint64_t offset) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32U);
  return place;
}

TEST(TryLock, IsOfTheByteThatTheSpecificationNames) {
  const testing::TempDir folder;
  const std::filesystem::path path = folder.write_file("a", "text");
  std::error_code failed;
  const File ours = open(path, Access::read_and_write, failed);
  const File theirs = open(path, Access::read_and_write, failed);
  ASSERT_EQ(try_lock(ours, Lock::exclusive), Locking::done);
  constexpr DWORD at_once = LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK;
  OVERLAPPED named = byte_at(0x7fff'ffff'ffff'fffe), before = byte_at(0x7fff'ffff'ffff'fffd);
  EXPECT_EQ(::LockFileEx(native_of(theirs), at_once, 0, 1, 0, &named), 0);
  EXPECT_NE(::LockFileEx(native_of(theirs), at_once, 0, 1, 0, &before), 0);
  EXPECT_EQ(folder.read_text("a"), "text");
}

}  // namespace
}  // namespace onnxar::os
