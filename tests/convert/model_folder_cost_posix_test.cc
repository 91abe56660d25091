// Counts the names that the kernel looks up while a folder is written: nested folders are not looked up for each file.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdarg>
#include <filesystem>
#include <string>
#include <string_view>

#include "onnxar/convert.h"
#include "support/samples.h"

namespace {

std::atomic<std::uint64_t> names_looked_up = 0;

}  // namespace

#if defined(__GLIBC__)
/// Replaces the C library's function: counts the names in the paths of openat2, and makes the call.
// The C library's name of the parameter is reserved.
extern "C" long syscall(long number, ...) noexcept {  // NOLINT(readability-inconsistent-declaration-parameter-name)
  using Function = long (*)(long, ...);
  // No variable that is initialised at the first call: libc++abi guards those with this very function.
  const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  if (number == SYS_openat2) {
    const std::string_view path = std::bit_cast<const char*>(arguments[1]);
    names_looked_up += 1 + static_cast<std::uint64_t>(std::ranges::count(path, '/'));
  }
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
#define ONNXAR_COUNTS_LOOKUPS() static_cast<void>(0)
#else
#define ONNXAR_COUNTS_LOOKUPS() GTEST_SKIP() << "a static program calls its own `syscall`, which a test cannot replace"
#endif

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t depth = 400;
/// The number of lookups from the outermost folder that writing and publishing one file takes.
constexpr std::uint64_t most_times = 12;

class FolderCostTest : public ::testing::Test {
 protected:
  /// An archive with side files in deeply nested folders; the files have no folder in common.
  [[nodiscard]] static Built archive_of_deep_files(std::size_t count) {
    std::vector<ZipEntry> entries;
    for (std::size_t i = 0; i < count; ++i) {
      std::string name = std::to_string(i);
      for (std::size_t k = 1; k < depth; ++k) name += "/d";
      entries.push_back(zip_entry(name + "/f.txt", blob(name.substr(0, 1))));
    }
    return archive_of(model_of({}), entries);
  }

  /// The number of names that were looked up while `action` ran.
  template <typename Action>
  static std::uint64_t lookups(const Action& action) {
    const std::uint64_t before = names_looked_up;
    action();
    return names_looked_up - before;
  }

  TempDir folder_;
};

TEST_F(FolderCostTest, EachFileCostsAFewTimesTheFoldersThatItIsIn) {
  ONNXAR_COUNTS_LOOKUPS();
  const fs::path input = folder_.write_file("in", archive_of_deep_files(3).bytes);
  EXPECT_LE(lookups([&] { unpack(input, folder_ / "new/", saved_as(Format::onnx_inline)); }), 3 * most_times * depth);
  std::string way = "new/2";
  for (std::size_t k = 1; k < depth; ++k) way += "/d";
  EXPECT_TRUE(fs::exists(folder_ / way / "f.txt"));
}

TEST_F(FolderCostTest, LimitsFoldersInProportionToFiles) {
  const fs::path few = folder_.write_file("few", archive_of_deep_files(10).bytes);
  SaveOptions options = saved_as(Format::onnx_inline, dry_output);
  EXPECT_EQ(pack_or_unpack(few, folder_ / "new/", options).side_files, 10U);
  const fs::path many = folder_.write_file("many", archive_of_deep_files(11).bytes);
  for (const bool dry_run : {true, false}) {
    options.output.dry_run = dry_run;
    const Error error = error_of([&] { pack_or_unpack(many, folder_ / "new/", options); });
    EXPECT_EQ(error.code(), Code::zip_limit_folders);
    EXPECT_EQ(error.path(), folder_ / "new");
    EXPECT_TRUE(error.entry().ends_with("/f.txt")) << error.entry();
    EXPECT_EQ(error.advice().hint, Hint::unpack_model_alone);
    EXPECT_FALSE(fs::exists(folder_ / "new"));
  }
  EXPECT_EQ(pack_or_unpack(many, folder_ / "alone.onnx", options).side_files_left_out, 11U);
}

TEST_F(FolderCostTest, FoldersThatFilesShareAreCountedOnce) {
  std::vector<ZipEntry> entries;
  for (int i = 0; i < 5000; ++i) entries.push_back(zip_entry("a/b/" + std::to_string(i) + ".txt", blob("x")));
  const fs::path input = folder_.write_file("in", archive_of(model_of({}), entries).bytes);
  const SaveOptions options = saved_as(Format::onnx_inline, dry_output);
  EXPECT_EQ(pack_or_unpack(input, folder_ / "new/", options).side_files, 5000U);
}

TEST_F(FolderCostTest, FoldersOfAFailureAreRemovedAtTheSameCost) {
  ONNXAR_COUNTS_LOOKUPS();
  Built built = archive_of_deep_files(3);
  flip_bit(built.bytes, built.entries[2].data_offset);
  const fs::path input = folder_.write_file("in", built.bytes);
  EXPECT_LE(lookups([&] {
              EXPECT_EQ(error_of([&] { unpack(input, folder_ / "new/", saved_as(Format::onnx_inline)); }).code(),
                        Code::zip_data_crc);
            }),
            3 * most_times * depth);
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

}  // namespace
}  // namespace onnxar::testing
