// Opening archives: what only POSIX systems let happen to an open file, or tell about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/open_file.h"
#include "onnxar/archive.h"
#include "support/emulation.h"
#include "support/posix/child_process.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::Not;

const OpenOptions copying = {.copy_in = true};

TEST(DescriptorRange, PositionOfTheDescriptorStays) {
  const TempDir folder;
  const os::File file = base::open_file(folder.write_file("a", smallest_archive().bytes), os::Access::read);
  const int number = static_cast<int>(file.get());
  ASSERT_EQ(::lseek(number, 7, SEEK_SET), 7);
  for (const OpenOptions& options : {OpenOptions(), copying}) {
    EXPECT_EQ(Archive::open({number, 0, std::nullopt}, options).size(), 2U);
    EXPECT_EQ(::lseek(number, 0, SEEK_CUR), 7);
  }
}

TEST(CopyIn, MappingOfAFileThatIsShortenedFaults) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", smallest_builder(pattern(std::size_t{3} * 4096)).build());
  const auto ends_well = [&path](const OpenOptions& options) {
    return in_child([&] {
      const Archive archive = Archive::open(path, options);
      const Bytes weight = archive.resolve("w");
      fs::resize_file(path, 0);
      std::size_t sum = 0;
      for (const std::byte byte : weight) sum += std::to_integer<std::size_t>(byte);
      return sum != 0 ? 0 : 1;
    });
  };
  const Blob whole = folder.read_file("a");
  EXPECT_EQ(ends_well(copying), 0);
  folder.write_file("a", whole);
  // By a signal, or by what a sanitizer makes of it.
  EXPECT_THAT(ends_well({}), Not(AnyOf(0, 1, child_threw)));
}

/// How many bytes this process has read by system calls.
std::uint64_t bytes_read() {
  std::ifstream counters("/proc/self/io");
  std::string name;
  std::uint64_t count = 0;
  counters >> name >> count;
  EXPECT_EQ(name, "rchar:");
  return count;
}

TEST(CopyIn, BrokenFilesAreReadOnceAtMost) {
  const TempDir folder;
  const Built archive = smallest_builder(pattern(8U << 20U)).build_placed();
  const std::size_t size = archive.bytes.size();
  Blob broken = archive.bytes;
  broken[archive.directory_offset] ^= std::byte{1};
  Blob torn = archive.bytes;
  torn.insert(torn.end(), torn.begin(), torn.begin() + 100);
  for (const Blob& bytes : {broken, torn}) {
    const fs::path path = folder.write_file("a", bytes);
    const std::uint64_t before = bytes_read();
    EXPECT_TRUE(error_if_any([&] { return Archive::open(path, copying); }));
    EXPECT_LT(bytes_read() - before, size + size / 2);
  }
}

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

}  // namespace
}  // namespace onnxar::testing
