// Mapped and allocated pages.
#include "os/pages.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>

#include "onnxar/bytes.h"
#include "support/emulation.h"
#include "support/mappings.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using os::File;

TEST(Map, ShowsThePartOfTheFileUntilItIsUnmapped) {
  const TempDir folder;
  const std::size_t granularity = os::mapping_granularity();
  ASSERT_TRUE(std::has_single_bit(granularity));
  const auto path = folder.write_file("a", pattern(3 * granularity));
  std::error_code failed;
  std::span<const std::byte> mapped;
  {
    const File file = os::open(path, os::Access::read, failed);
    mapped = os::map(file, granularity, granularity + 5, failed);
  }
  ASSERT_FALSE(failed);
  EXPECT_EQ(copy_of(mapped), copy_of(Bytes(pattern(3 * granularity)).subspan(granularity, granularity + 5)));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped.data()) % granularity, 0U);
  os::unmap(mapped);
  EXPECT_EQ(mappings_of(path), 0U);
}

TEST(Map, FailsOnAnInvalidHandle) {
  std::error_code failed;
  EXPECT_TRUE(os::map(os::Handle::none, 0, 1, failed).empty());
  EXPECT_EQ(failed, std::errc::bad_file_descriptor);
}

TEST(Populate, FailsWhereTheFileWasShortened) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  ONNXAR_NATIVELY("pass the advice MADV_POPULATE_READ on");
  const TempDir folder;
  const auto path = folder.write_file("a", pattern(1U << 20U));
  std::error_code failed;
  const auto mapped = os::map(os::open(path, os::Access::read, failed), 0, 1U << 20U, failed);
  ASSERT_FALSE(failed);
  EXPECT_FALSE(os::populate(mapped.subspan(1, 5000)));
  EXPECT_TRUE(is_present(mapped.data() + 5000));
  os::will_need(mapped);
  std::filesystem::resize_file(path, 0);
  EXPECT_TRUE(os::populate(mapped));
  os::unmap(mapped);
}

TEST(Allocate, IsAlignedOrNull) {
  for (const std::size_t size : {1U, 4097U, 5U << 20U}) {
    for (const std::size_t alignment : {1U, 64U, 1U << 22U}) {
      std::byte* const memory = os::allocate(size, alignment);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0U);
      std::memset(memory, 1, size);
      os::release(memory);
    }
  }
  EXPECT_EQ(os::allocate(~std::size_t{0}, 64), nullptr);
}

}  // namespace
}  // namespace onnxar::testing
