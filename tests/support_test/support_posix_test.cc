// The helpers that look at errors, zip directories, files and bytes in memory report what is there.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/emulation.h"
#include "support/guarded_buffer.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"
#include "support/zip_directory.h"
#include "support_test/shell.h"

namespace onnxar::testing {
namespace {

using ::testing::ContainsRegex;
using Strings = std::vector<std::string>;

TEST(ZipDirectory, ListsOffsetsSizesAndExtraLengths) {
  Built built = smallest_archive();
  const auto expect = [&](const char* line) { EXPECT_THAT(zip_directory(built.bytes), ContainsRegex(line)); };
  expect("\n  \"w\" +0 +64 +1024 +1024 +0 +33\\+0\n  \"__MODEL_PROTO\" +1088 +1152 +118 ");
  flip_bit(built.bytes, built.entries[1].header_offset);
  expect("\"__MODEL_PROTO\" +1088 +no header");
  put_u16(built.bytes, built.entries[1].central_offset + 28, 0xFFFF);
  expect(" is cut\n");
  flip_bit(built.bytes, built.directory_offset);
  expect("no central header at 1270\n");
  EXPECT_EQ(zip_directory(blob("PK")), "2 bytes, no end record\n");
}

TEST(ZipDirectory, IsPrintedByFailingTest) {
  if (std::getenv("ONNXAR_FAIL") != nullptr) FAIL() << smallest_archive().end_offset;
  if (!std::filesystem::exists("/proc/self/exe")) GTEST_SKIP() << "the path of this program is not known";
  ONNXAR_NATIVELY("start this program");
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  EXPECT_EQ(exit_code("env -u GTEST_OUTPUT ONNXAR_FAIL=1 " + self + " --gtest_filter=*.IsPrintedByFailingTest" +
                      " | grep -A2 'zip file last built' | grep w"),
            0);
}

/// Counts the failures that `expect_error` reports.
int failures(const std::optional<Error>& error, const ExpectedError& expected) {
  ::testing::TestPartResultArray results;
  const ::testing::ScopedFakeTestPartResultReporter reporter(
      ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
  expect_error(error, expected);
  return results.size();
}

TEST(ExpectError, ComparesEachPartThatIsSet) {
  const Error error(Code::zip_data_crc, "broken", {"w", 7}, "a.zip");
  EXPECT_EQ(failures(error, {.code = Code::zip_data_crc}), 0);
  EXPECT_EQ(failures(error, {Code::zip_data_crc, "w", 7, "a.zip", Hint::none, {"broken", "\"w\""}}), 0);
  EXPECT_EQ(failures(error, {Code::zip_data_inflate, "v", 8, "b.zip", Hint::overwrite, {"whole", "broken"}}), 6);
  EXPECT_EQ(failures({}, {.code = Code::zip_data_crc}), 1);
}

TEST(TempDir, HoldsFilesAndLeavesNothing) {
  std::filesystem::path path;
  {
    const TempDir folder;
    path = folder.path();
    folder.write_file("b", "text");
    folder.write_file("sub/.hidden", pattern(3));
    EXPECT_EQ(folder.file_names(), (Strings{"b", "sub/", "sub/.hidden"}));
    EXPECT_EQ(folder.read_text("b"), "text");
    EXPECT_EQ(folder.read_file("sub/.hidden"), pattern(3));
    EXPECT_THROW(static_cast<void>(folder.read_file("none")), std::runtime_error);
    std::filesystem::permissions(folder / "sub", std::filesystem::perms::none);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(GuardedBuffer, HoldsTheBytes) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{10000}}) {
    const Blob data = pattern(size);
    const GuardedBuffer at_end = GuardedBuffer::ending_at_guard(data);
    const GuardedBuffer at_start = GuardedBuffer::starting_after_guard(data);
    EXPECT_EQ(Blob(at_end.bytes().begin(), at_end.bytes().end()), data);
    EXPECT_EQ(Blob(at_start.bytes().begin(), at_start.bytes().end()), data);
  }
}

TEST(GuardedBufferDeathTest, FaultsOneByteOutside) {
  const GuardedBuffer at_end = GuardedBuffer::ending_at_guard(pattern(10));
  const GuardedBuffer at_start = GuardedBuffer::starting_after_guard(pattern(10));
  const auto touch = [](const std::byte* place) { return *static_cast<const volatile std::byte*>(place); };
  EXPECT_DEATH(static_cast<void>(touch(at_end.bytes().data() + 10)), "");
  EXPECT_DEATH(static_cast<void>(touch(at_start.bytes().data() - 1)), "");
}

}  // namespace
}  // namespace onnxar::testing
