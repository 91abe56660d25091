// Fresh memory, and pages that are had ready.
#include "base/memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>

#include "base/mapped_file.h"
#include "onnxar/error.h"
#include "support/mappings.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::base {
namespace {

TEST(Allocate, MemoryBeginsAtAMultipleOfTheAlignmentAndIsWritable) {
  for (const std::size_t size : {1U, 63U, 4096U, 5U << 20U}) {
    for (std::size_t alignment = 1; alignment <= 1U << 22U; alignment <<= 1U) {
      const auto memory = allocate(size, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % alignment, 0U) << size << ' ' << alignment;
      memory.get()[0] = memory.get()[size - 1] = std::byte{1};
    }
  }
}

TEST(Allocate, MoreThanThereIsIsAnError) {
  EXPECT_THROW(static_cast<void>(allocate(~std::size_t{0} - 10, 64)), std::bad_alloc);
}

TEST(Populate, EveryPageThatTheBytesTouchIsThere) {
  const testing::TempDir folder;
  constexpr std::size_t size = 8U << 20U;
  const MappedFile file = MappedFile::open(folder.write_file("f", testing::pattern(size)));
  const Bytes middle = file.bytes().subspan(size / 2 - 1, 4098);
  ASSERT_FALSE(testing::is_present(middle.data()));
  populate(middle);
  EXPECT_TRUE(testing::is_present(middle.data()));
  EXPECT_TRUE(testing::is_present(middle.data() + 1));
  EXPECT_TRUE(testing::is_present(middle.data() + 4097));
}

TEST(Populate, AFileThatWasShortenedIsAnErrorAndNoCrash) {
  const testing::TempDir folder;
  const auto path = folder.write_file("f", testing::pattern(1U << 20U));
  const MappedFile file = MappedFile::open(path);
  std::filesystem::resize_file(path, 0);
  try {
    populate(file.bytes());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::io_failed);
  }
}

TEST(WillNeed, IsAdviceThatNeverFails) {
  will_need({});
  const testing::Blob bytes = testing::pattern(10);
  will_need(bytes);
  EXPECT_EQ(bytes, testing::pattern(10));
  populate({});
}

}  // namespace
}  // namespace onnxar::base
