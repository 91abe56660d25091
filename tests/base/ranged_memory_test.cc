// Tests memory that is filled range by range.
#include "base/ranged_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <thread>

#include "base/byte_range.h"
#include "os/pages.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/wire_builder.h"

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

class RangedMemory : public ::testing::Test {
 protected:
  [[nodiscard]] Blob copied_out(std::uint64_t offset, std::size_t length) const {
    Blob target(length);
    memory_.copy(offset, target);
    return target;
  }
  [[nodiscard]] Blob piece_at(std::size_t offset, std::size_t length) const {
    return copy_of(Bytes(bytes_).subspan(offset, length));
  }
  void expect_there(std::size_t offset, std::size_t length) const {
    EXPECT_TRUE(std::ranges::equal(memory_.bytes().subspan(offset, length), piece_at(offset, length)));
  }

  const Blob bytes_ = ten_pages();
  const std::shared_ptr<RangedBlob> source_ = by_ranges(bytes_);
  const base::RangedMemory memory_{source_};
};

TEST_F(RangedMemory, ReadsTheNeededPages) {
  EXPECT_EQ(memory_.bytes().size(), bytes_.size());
  EXPECT_EQ(source_->calls, 0U);
  memory_.need({page + 5, page});  // touches two pages
  EXPECT_EQ(source_->reads, (std::vector<Read>{{page, 2 * page}}));
  expect_there(page, 2 * page);
}

TEST_F(RangedMemory, ReadsNothingTwice) {
  memory_.need({2 * page, page});
  memory_.need({5 * page, 1});
  memory_.need({2 * page + 7, 10});
  EXPECT_EQ(source_->calls, 2U);
  source_->reads.clear();
  memory_.need({page, 6 * page});
  EXPECT_EQ(source_->reads, (std::vector<Read>{{page, page}, {3 * page, 2 * page}, {6 * page, page}}));
  EXPECT_EQ(source_->calls, 3U);
  memory_.need({page, 6 * page});
  EXPECT_EQ(source_->calls, 3U);
}

TEST_F(RangedMemory, ReadsAllRangesOfACallInFileOrder) {
  const std::array ranges = {base::ByteRange{9 * page, 3}, base::ByteRange{page, page}, base::ByteRange{4 * page, 0},
                             base::ByteRange{2 * page - 1, 2}};
  memory_.need(ranges);
  EXPECT_EQ(source_->calls, 1U);
  EXPECT_EQ(source_->reads, (std::vector<Read>{{page, 2 * page}, {9 * page, page}}));
}

TEST_F(RangedMemory, ReadsTheLastPageUpToTheEndOfTheFile) {
  memory_.need({bytes_.size() - 1, 1});
  EXPECT_EQ(source_->reads, (std::vector<Read>{{10 * page, page / 2}}));
  EXPECT_EQ(memory_.bytes().back(), bytes_.back());
}

TEST_F(RangedMemory, ReadsAgainWhatFailed) {
  memory_.need({0, page});
  source_->fails = true;
  EXPECT_EQ(code_of([&] { memory_.need({page / 2, 3 * page}); }), Code::io_failed);
  source_->fails = false;
  memory_.need({page / 2, 3 * page});
  expect_there(0, 4 * page);
}

TEST_F(RangedMemory, HasNoBytesOfAnEmptyFile) {
  const base::RangedMemory memory(by_ranges({}));
  EXPECT_TRUE(memory.bytes().empty());
  memory.need({0, 0});
}

TEST_F(RangedMemory, RefusesAFileBeyondTheAddressSpace) {
  struct Endless final : RandomAccess {
    [[nodiscard]] std::uint64_t size() const override { return 1ULL << 62U; }
    void read(std::span<const RangeTarget> /*ranges*/) const override {}
  };
  EXPECT_EQ(code_of([] { return std::make_unique<base::RangedMemory>(std::make_shared<Endless>()) != nullptr; }),
            Code::io_address_space);
}

TEST_F(RangedMemory, CopiesWithoutKeeping) {
  EXPECT_EQ(copied_out(3 * page + 1, 100), piece_at(3 * page + 1, 100));
  EXPECT_EQ(source_->reads, (std::vector<Read>{{3 * page + 1, 100}}));
  memory_.need({3 * page, page});
  EXPECT_EQ(source_->calls, 2U);
  EXPECT_EQ(copied_out(3 * page + 1, 200), piece_at(3 * page + 1, 200));  // from memory
  EXPECT_EQ(source_->calls, 2U);
}

TEST_F(RangedMemory, ReadsAheadOfSmallCopiesThatFollowEachOther) {
  constexpr std::size_t step = 100;
  for (std::size_t at = 0; at + step <= bytes_.size(); at += step) {
    ASSERT_EQ(copied_out(at, step), piece_at(at, step)) << at;
  }
  EXPECT_LE(source_->calls, 15U);  // twice as much each time
}

TEST_F(RangedMemory, DoesNotReadAheadOfCopiesElsewhere) {
  const Blob bytes = pattern(1U << 20U);
  const auto source = by_ranges(bytes);
  const base::RangedMemory memory(source);
  Blob target(50);
  for (const std::size_t at : {900'000U, 500'000U, 100'000U}) memory.copy(at, target);
  EXPECT_EQ(source->reads, (std::vector<Read>{{900'000, 50}, {500'000, 50}, {100'000, 50}}));
}

TEST_F(RangedMemory, ReturnsTheSameBytesToEachThread) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 10; ++i) {
        const std::size_t at = ((i * 7 + t * 3) % 10) * page;
        memory_.need({at, page});
        if (!std::ranges::equal(memory_.bytes().subspan(at, page), piece_at(at, page))) ++wrong;
        if (copied_out(at + 1, 10) != piece_at(at + 1, 10)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace onnxar::testing
