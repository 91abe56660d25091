#include "base/ranged_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <thread>

#include "os/pages.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using Read = RangedBlob::Read;

const std::size_t page = os::mapping_granularity();

/// Ten pages and a half, in which every page differs.
Blob ten_pages() {
  Blob bytes(10 * page + page / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / page);
  return bytes;
}

Blob copied_out(const base::RangedMemory& memory, std::uint64_t offset, std::size_t length) {
  Blob target(length);
  memory.copy(offset, target);
  return target;
}

Blob piece_at(const Blob& bytes, std::size_t offset, std::size_t length) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

TEST(RangedMemory, ReadsThePagesOfWhatIsNeeded) {
  const Blob bytes = ten_pages();
  const auto source = by_ranges(bytes);
  const base::RangedMemory memory(source);
  EXPECT_EQ(memory.bytes().size(), bytes.size());
  EXPECT_EQ(source->calls, 0U);
  memory.need({page + 5, page});  // touches two pages
  EXPECT_EQ(source->reads, (std::vector<Read>{{page, 2 * page}}));
  EXPECT_TRUE(std::ranges::equal(memory.bytes().subspan(page, 2 * page), piece_at(bytes, page, 2 * page)));
}

TEST(RangedMemory, ReadsNothingTwice) {
  const auto source = by_ranges(ten_pages());
  const base::RangedMemory memory(source);
  memory.need({2 * page, page});
  memory.need({5 * page, 1});
  memory.need({2 * page + 7, 10});
  EXPECT_EQ(source->calls, 2U);
  source->reads.clear();
  memory.need({page, 6 * page});
  EXPECT_EQ(source->reads, (std::vector<Read>{{page, page}, {3 * page, 2 * page}, {6 * page, page}}));
  EXPECT_EQ(source->calls, 3U);
  memory.need({page, 6 * page});
  EXPECT_EQ(source->calls, 3U);
}

TEST(RangedMemory, ReadsAllRangesOfACallAtOnceInTheirOrderInTheFile) {
  const Blob bytes = ten_pages();
  const auto source = by_ranges(bytes);
  const base::RangedMemory memory(source);
  const std::array ranges = {base::ByteRange{9 * page, 3}, base::ByteRange{page, page}, base::ByteRange{4 * page, 0},
                             base::ByteRange{2 * page - 1, 2}};
  memory.need(ranges);
  EXPECT_EQ(source->calls, 1U);
  EXPECT_EQ(source->reads, (std::vector<Read>{{page, 2 * page}, {9 * page, page}}));
}

TEST(RangedMemory, ReadsTheLastPageUpToTheEndOfTheFile) {
  const Blob bytes = ten_pages();
  const auto source = by_ranges(bytes);
  const base::RangedMemory memory(source);
  memory.need({bytes.size() - 1, 1});
  EXPECT_EQ(source->reads, (std::vector<Read>{{10 * page, page / 2}}));
  EXPECT_EQ(memory.bytes().back(), bytes.back());
}

TEST(RangedMemory, ReadsAgainWhatFailed) {
  const Blob bytes = ten_pages();
  const auto source = by_ranges(bytes);
  const base::RangedMemory memory(source);
  memory.need({0, page});
  source->fails = true;
  EXPECT_EQ(code_of([&] {
              memory.need({page / 2, 3 * page});
              return 0;
            }),
            Code::io_failed);
  source->fails = false;
  memory.need({page / 2, 3 * page});
  EXPECT_TRUE(std::ranges::equal(memory.bytes().first(4 * page), piece_at(bytes, 0, 4 * page)));
}

TEST(RangedMemory, HasNoBytesOfAnEmptyFile) {
  const base::RangedMemory memory(by_ranges({}));
  EXPECT_TRUE(memory.bytes().empty());
  memory.need({0, 0});
}

TEST(RangedMemory, RefusesAFileBeyondTheAddresses) {
  struct Endless final : RandomAccess {
    [[nodiscard]] std::uint64_t size() const override { return 1ULL << 62U; }
    void read(std::span<const RangeTarget> /*ranges*/) const override {}
  };
  EXPECT_EQ(code_of([] { return std::make_unique<base::RangedMemory>(std::make_shared<Endless>()) != nullptr; }),
            Code::io_address_space);
}

TEST(RangedMemory, CopiesWithoutKeeping) {
  const Blob bytes = ten_pages();
  const auto source = by_ranges(bytes);
  const base::RangedMemory memory(source);
  EXPECT_EQ(copied_out(memory, 3 * page + 1, 100), piece_at(bytes, 3 * page + 1, 100));
  EXPECT_EQ(source->reads, (std::vector<Read>{{3 * page + 1, 100}}));
  memory.need({3 * page, page});
  EXPECT_EQ(source->calls, 2U);
  EXPECT_EQ(copied_out(memory, 3 * page + 1, 200), piece_at(bytes, 3 * page + 1, 200));  // from memory
  EXPECT_EQ(source->calls, 2U);
}

TEST(RangedMemory, ReadsAheadOfSmallCopiesThatFollowEachOther) {
  const Blob bytes = ten_pages();
  const auto source = by_ranges(bytes);
  const base::RangedMemory memory(source);
  constexpr std::size_t step = 100;
  for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
    ASSERT_EQ(copied_out(memory, at, step), piece_at(bytes, at, step)) << at;
  }
  EXPECT_LE(source->calls, 15U);  // twice as much each time
}

TEST(RangedMemory, DoesNotReadAheadOfCopiesElsewhere) {
  const Blob bytes = pattern(1U << 20U);
  const auto source = by_ranges(bytes);
  const base::RangedMemory memory(source);
  for (const std::size_t at : {900'000U, 500'000U, 100'000U}) static_cast<void>(copied_out(memory, at, 50));
  EXPECT_EQ(source->reads, (std::vector<Read>{{900'000, 50}, {500'000, 50}, {100'000, 50}}));
}

TEST(RangedMemory, GivesEachThreadTheSameBytes) {
  const Blob bytes = ten_pages();
  const auto source = by_ranges(bytes);
  const base::RangedMemory memory(source);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 10; ++i) {
        const std::size_t at = ((i * 7 + t * 3) % 10) * page;
        memory.need({at, page});
        if (!std::ranges::equal(memory.bytes().subspan(at, page), piece_at(bytes, at, page))) ++wrong;
        if (copied_out(memory, at + 1, 10) != piece_at(bytes, at + 1, 10)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace onnxar::testing
