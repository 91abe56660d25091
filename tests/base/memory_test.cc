// Allocated memory, and pages that are read ahead of use.
#include "base/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "base/mapped_file.h"
#include "onnxar/error.h"
#include "support/emulation.h"
#include "support/mappings.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::base {
namespace {

TEST(Allocate, ReturnsAlignedWritableMemory) {
  for (const std::size_t size : {1U, 63U, 4096U, 5U << 20U}) {
    for (std::size_t alignment = 1; alignment <= 1U << 22U; alignment <<= 1U) {
      const auto memory = allocate(size, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % alignment, 0U) << size << ' ' << alignment;
      memory.get()[0] = memory.get()[size - 1] = std::byte{1};
    }
  }
}

TEST(Allocate, TooLargeSizeIsAnError) {
  EXPECT_THROW(static_cast<void>(allocate(~std::size_t{0} - 10, 64)), std::bad_alloc);
}

TEST(Populate, LoadsEveryPageThatTheBytesTouch) {
  ONNXAR_NATIVELY("pass the advice MADV_POPULATE_READ on");
  const testing::TempDir folder;
  constexpr std::size_t size = 8U << 20U;
  const MappedFile file = MappedFile::open(folder.write_file("f", testing::pattern(size)));
  const Bytes middle = file.bytes().subspan(size / 2 - 1, 4098);
  ASSERT_FALSE(testing::is_present(middle.data()));
  prefetch(middle, Prefetch::populate);
  EXPECT_TRUE(testing::is_present(middle.data()));
  EXPECT_TRUE(testing::is_present(middle.data() + 1));
  EXPECT_TRUE(testing::is_present(middle.data() + 4097));
}

TEST(Populate, AFileThatWasShortenedIsAnErrorAndNoCrash) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  ONNXAR_NATIVELY("pass the advice MADV_POPULATE_READ on");
  const testing::TempDir folder;
  const auto path = folder.write_file("f", testing::pattern(1U << 20U));
  const MappedFile file = MappedFile::open(path);
  std::filesystem::resize_file(path, 0);
  try {
    prefetch(file.bytes(), Prefetch::populate);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::io_failed);
  }
}

TEST(Prefetch, FollowsTheOption) {
  ONNXAR_NATIVELY("pass the advice MADV_POPULATE_READ on");
  const testing::TempDir folder;
  const MappedFile file = MappedFile::open(folder.write_file("f", testing::pattern(1U << 20U)));
  prefetch(file.bytes(), Prefetch::none);
  EXPECT_FALSE(testing::is_present(file.bytes().data()));
  prefetch(file.bytes(), Prefetch::will_need);
  prefetch(file.bytes(), Prefetch::populate);
  EXPECT_TRUE(testing::is_present(file.bytes().data()));
}

TEST(ReadIn, CopiesTheBytesOfThePartToNewMemory) {
  const testing::TempDir folder;
  const testing::Blob bytes = testing::pattern((17U << 20U) + 5);  // three pieces
  const auto path = folder.write_file("f", bytes);
  const os::File file = open_file(path, os::Access::read);
  for (const FilePart& part : {FilePart{}, {64, {}}, {1, 8U << 20U}, {64, 16U << 20U}, {7, 0}, {bytes.size(), {}}}) {
    const ByteSpan span = read_in(file, part, 32768, 3, path);
    const Bytes expected = Bytes(bytes).subspan(part.offset, part.length.value_or(std::dynamic_extent));
    EXPECT_TRUE(std::ranges::equal(span.bytes(), expected)) << part.offset;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(span.bytes().data()) % 32768, 0U);
    EXPECT_NE(span.owner(), nullptr);
    EXPECT_NE(testing::mapped_file_at(span.bytes().data()), testing::mapped_name(path));
  }
}

TEST(ReadIn, AFileThatCannotBeReadIsAnErrorThatNamesIt) {
  const testing::TempDir folder;
  const auto path = folder.write_file("f", testing::pattern(100));
  const os::File file = testing::open_for_writing_only(path);
  testing::expect_error(testing::error_if_any([&] { return read_in(file, {}, 64, 1, path); }),
                        {.code = testing::code_without_right_to_read, .path = path});
}

TEST(WillNeed, IsAdviceThatNeverFails) {
  prefetch({}, Prefetch::will_need);
  const testing::Blob bytes = testing::pattern(10);
  prefetch(bytes, Prefetch::will_need);
  EXPECT_EQ(bytes, testing::pattern(10));
  prefetch({}, Prefetch::populate);
}

}  // namespace
}  // namespace onnxar::base
