// Mapping files, and files that cannot be mapped.
#include "base/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/memory.h"
#include "support/mappings.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::MappedFile;

std::optional<Error> error_of_opening(const fs::path& path) {
  return error_if_any([&] { return MappedFile::open(path); });
}

TEST(MappedFile, HoldsTheBytesOfTheFileAndBeginsOnAPage) {
  const TempDir folder;
  const MappedFile file = MappedFile::open(folder.write_file("a", pattern(10000)));
  EXPECT_EQ(copy_of(file.bytes()), pattern(10000));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.bytes().data()) % 4096, 0U);
}

TEST(MappedFile, RefusesMissingFilesAndNonFilesByPath) {
  const TempDir folder;
  const fs::path file = folder.write_file("a", "text");
  for (const auto& [path, code] : {std::pair(folder / "none", Code::io_not_found),
                                   {file / "b", Code::io_not_found},
                                   {folder.path(), Code::io_not_a_file},
                                   {null_device(), Code::io_not_a_file}}) {
    const auto error = error_of_opening(path);
    ASSERT_TRUE(error) << path;
    EXPECT_EQ(error->code(), code) << path;
    EXPECT_EQ(error->path(), path);
  }
  EXPECT_THAT(error_of_opening(folder.path())->message(), ::testing::HasSubstr("folder"));
}

TEST(MappedFile, PipeIsRefusedWithoutWaitingForItsWriter) {
  const TempDir folder;
  if (!make_pipe(folder / "fifo")) GTEST_SKIP() << "folders of this system have no pipes";
  EXPECT_EQ(error_of_opening(folder / "fifo")->code(), Code::io_not_a_file);
}

TEST(MappedFile, LinkIsFollowed) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  folder.write_file("a", "text");
  make_symlink("a", folder / "link");
  EXPECT_EQ(MappedFile::open(folder / "link").identity(), MappedFile::open(folder / "a").identity());
}

TEST(MappedFile, IdentityIsOneForAllNamesOfAFile) {
  const TempDir folder;
  const fs::path a = folder.write_file("a", "text");
  const fs::path b = folder.write_file("b", "text");
  fs::create_hard_link(a, folder / "c");
  EXPECT_EQ(MappedFile::open(a).identity(), MappedFile::open(folder / "c").identity());
  EXPECT_NE(MappedFile::open(a).identity(), MappedFile::open(b).identity());
}

TEST(MappedFile, OpenDescriptorIsMapped) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  const os::File file = base::open_file(path, os::Access::read);
  fs::remove(path);
  const MappedFile mapping = MappedFile::map(file, path);
  EXPECT_EQ(as_text(mapping.bytes()), "text");
}

TEST(MappedFile, MapsPartAtItsOffsetWithinThePage) {
  const TempDir folder;
  const Blob bytes = pattern(3 * 4096 + 100);
  const fs::path path = folder.write_file("a", bytes);
  const os::File file = base::open_file(path, os::Access::read);
  for (const std::size_t offset : {0U, 1U, 64U, 4095U, 4096U, 4097U, 3U * 4096U + 99U}) {
    for (const std::size_t length : {std::size_t{1}, (bytes.size() - offset + 1) / 2, bytes.size() - offset}) {
      {
        const MappedFile part = MappedFile::map(file, {offset, length}, path);
        EXPECT_EQ(copy_of(part.bytes()), copy_of(Bytes(bytes).subspan(offset, length)));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.bytes().data()) % 4096, offset % 4096);
      }
      EXPECT_EQ(mappings_of(path), 0U) << offset << ' ' << length;
    }
    EXPECT_EQ(MappedFile::map(file, {offset, std::nullopt}, path).identity(), MappedFile::open(path).identity());
  }
}

// Where addresses have 32 bits, the whole file is refused.
TEST(MappedFile, MapsPartsOfFileBeyondTheAddressSpace) {
  const TempDir folder;
  const fs::path path = folder.write_file("sparse", "");
  constexpr std::uint64_t size = (5ULL << 30U) + 4;
  fs::resize_file(path, size);
  const os::File file = base::open_file(path, os::Access::read);
  const MappedFile end = MappedFile::map(file, {size - 8, {}}, path);
  EXPECT_EQ(end.bytes().size(), 8U);
  if constexpr (sizeof(void*) == sizeof(std::uint64_t)) {
    const MappedFile whole = MappedFile::map(file, path);
    EXPECT_EQ(whole.bytes().size(), size);
  } else {
    expect_error(error_if_any([&] { return MappedFile::map(file, path); }),
                 {.code = Code::io_address_space, .path = path});
    EXPECT_EQ(code_of([&] { return base::read_in(file, {}, 64, 1, path); }), Code::io_address_space);
  }
}

TEST(MappedFile, EmptyFileOrPartIsAnEmptyMapping) {
  const TempDir folder;
  const MappedFile empty = MappedFile::open(folder.write_file("empty", ""));
  EXPECT_TRUE(empty.bytes().empty());
  const fs::path path = folder.write_file("a", "text");
  const os::File file = base::open_file(path, os::Access::read);
  for (const base::FilePart& part : {base::FilePart{4, {}}, {2, 0}}) {
    const MappedFile nothing = MappedFile::map(file, part, path);
    EXPECT_TRUE(nothing.bytes().empty());
  }
}

TEST(MappedFile, PartThatLeavesTheFileIsRefused) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "text");
  const os::File file = base::open_file(path, os::Access::read);
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  for (const base::FilePart& part : {base::FilePart{5, {}}, {4, 1}, {0, 5}, {1, huge}, {huge, {}}, {huge, 1}}) {
    expect_error(error_if_any([&] { return MappedFile::map(file, part, path); }),
                 {.code = Code::usage_argument, .path = path});
  }
}

TEST(MappedFile, StaysReadableAfterTheNameIsReplaced) {
  const TempDir folder;
  const MappedFile file = MappedFile::open(folder.write_file("a", "before"));
  folder.write_file("b", "after!");
  replace_file(folder / "b", folder / "a");
  EXPECT_EQ(as_text(file.bytes()), "before");
}

// NOLINTBEGIN(bugprone-use-after-move,clang-analyzer-cplusplus.Move): the header promises the state after a move.
TEST(MappedFile, MovePassesTheMappingOn) {
  const TempDir folder;
  MappedFile first = MappedFile::open(folder.write_file("a", "text"));
  const std::byte* const place = first.bytes().data();
  MappedFile second = std::move(first);
  EXPECT_EQ(second.bytes().data(), place);
  EXPECT_TRUE(first.bytes().empty());
  MappedFile third = MappedFile::open(folder.write_file("b", "other"));
  third = std::move(second);
  EXPECT_EQ(as_text(third.bytes()), "text");
  EXPECT_TRUE(second.bytes().empty());
}

// NOLINTEND(bugprone-use-after-move,clang-analyzer-cplusplus.Move)

}  // namespace
}  // namespace onnxar::testing
