// What the system says of pages that were not read.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/ranged_memory.h"
#include "os/pages.h"
#include "support/ranged_blob.h"

namespace onnxar::testing {
namespace {

/// Has the system read one byte, which unlike an access by the program fails without a signal.
bool is_readable(const std::byte* byte) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const bool done = ::write(ends[1], byte, 1) == 1;
  const int reason = done ? EFAULT : errno;
  EXPECT_EQ(reason, EFAULT);
  for (const int end : ends) ::close(end);
  return done;
}

TEST(RangedMemoryOnPosix, ReturnsNoBytesThatWereNotRead) {
  const std::size_t page = os::mapping_granularity();
  const auto source = by_ranges(pattern(4 * page));
  const base::RangedMemory memory(source);
  memory.need({page, 1});
  const std::byte* const bytes = memory.bytes().data();
  EXPECT_FALSE(is_readable(bytes));
  EXPECT_TRUE(is_readable(bytes + page));
  EXPECT_TRUE(is_readable(bytes + 2 * page - 1));
  EXPECT_FALSE(is_readable(bytes + 2 * page));
  source->fails = true;
  EXPECT_THROW(memory.need({0, 4 * page}), Error);
  EXPECT_FALSE(is_readable(bytes));
  EXPECT_TRUE(is_readable(bytes + page));
  EXPECT_FALSE(is_readable(bytes + 3 * page));
}

}  // namespace
}  // namespace onnxar::testing
