// CRC-32 is compared with the definition, bit by bit, and at page borders.
#include "base/crc32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/guarded_buffer.h"
#include "support/threads.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

TEST(Crc32, ReturnsTheCheckValue) {
  EXPECT_EQ(base::crc32(0, as_bytes("123456789")), 0xCBF43926U);
  EXPECT_EQ(base::crc32(0, {}), 0U);
  EXPECT_EQ(base::crc32(0x12345678, {}), 0x12345678U);
}

// Pages on either side of the buffer cannot be read.
TEST(Crc32, EqualsTheDefinitionForSmallSizes) {
  for (std::size_t size = 0; size <= 2100; ++size) {
    const Blob data = pattern(size, static_cast<std::uint32_t>(size));
    const std::uint32_t expected = bitwise_crc32(data);
    const GuardedBuffer at_end = GuardedBuffer::ending_at_guard(data);
    const GuardedBuffer at_start = GuardedBuffer::starting_after_guard(data);
    EXPECT_EQ(base::crc32(0, at_end.bytes()), expected) << size;
    EXPECT_EQ(base::crc32(0, at_start.bytes()), expected) << size;
  }
}

TEST(Crc32, EqualsTheDefinitionAtEveryAlignment) {
  const Blob data = pattern((1U << 16U) + 128, 3);
  const GuardedBuffer buffer = GuardedBuffer::starting_after_guard(data);
  for (std::size_t shift = 0; shift < 64; ++shift) {
    const Bytes part = buffer.bytes().subspan(shift, data.size() - 2 * shift);
    EXPECT_EQ(base::crc32(0, part), bitwise_crc32(part)) << shift;
  }
}

TEST(Crc32, ContinuesOverPieces) {
  const Blob data = pattern(5000, 9);
  const Bytes whole = data;
  const std::uint32_t expected = bitwise_crc32(data);
  for (std::size_t cut = 0; cut <= data.size(); cut += 37) {
    EXPECT_EQ(base::crc32(base::crc32(0, whole.first(cut)), whole.subspan(cut)), expected) << cut;
  }
}

// zlib returns the initial value 0 for a null pointer with a length of 0. An exporter that passed an empty piece with a
// null pointer in the middle of a weight restarted the sum.
TEST(Crc32, NullEmptyPieceKeepsTheSum) {
  const Blob data = pattern(5000, 9);
  const std::uint32_t expected = bitwise_crc32(data);
  EXPECT_EQ(base::crc32(expected, Bytes()), expected);
  EXPECT_EQ(base::crc32(expected, Bytes(data).first(0)), expected);
  EXPECT_EQ(base::crc32_while(expected, Bytes(), [] {}), expected);
  base::ThreadPool two(2);
  EXPECT_EQ(base::crc32_in_pieces(expected, Bytes(), {100, 40}, two, [](std::size_t, Bytes) {}), expected);
  std::uint32_t crc = 0;
  for (std::size_t begin = 0; begin < data.size(); begin += 500) {
    crc = base::crc32(crc, Bytes(data).subspan(begin, 500));
    crc = base::crc32(crc, Bytes());
  }
  EXPECT_EQ(crc, expected);
}

TEST(Crc32, IsTheSameWhileTheBytesAreUsedByFewOrMany) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1000}, (std::size_t{2} << 20U) - 1, std::size_t{5} << 20U}) {
    const Blob data = pattern(size, 4);
    Blob copy;
    int uses = 0;
    const std::uint32_t crc = base::crc32_while(7, data, [&] {
      copy = data;
      ++uses;
    });
    EXPECT_EQ(crc, base::crc32(7, data)) << size;
    EXPECT_EQ(uses, 1) << size;
    EXPECT_TRUE(copy == data) << size;
  }
}

TEST(Crc32, IsTheSameInPiecesAndUsesEachPieceOnce) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{999}, std::size_t{1000}, std::size_t{123'457}}) {
    const Blob whole = pattern(size + 10, 5);
    const Bytes before = Bytes(whole).first(10), data = Bytes(whole).subspan(10);
    const std::uint32_t expected = bitwise_crc32(whole);
    for (const std::size_t step : {std::size_t{1000}, std::size_t{4096}, std::size_t{200'000}}) {
      for (const std::size_t threads : {0U, 1U, 2U, 5U}) {
        const base::Pieces pieces{step, threads == 2 ? 7 : step};
        Blob copy(size);
        std::atomic<std::size_t> used = 0;
        const auto use = [&](std::size_t begin, Bytes piece) {
          std::ranges::copy(piece, std::span(copy).subspan(begin).begin());
          used += piece.size();
        };
        base::ThreadPool pool(threads);
        const std::uint32_t crc = base::crc32_in_pieces(bitwise_crc32(before), data, pieces, pool, use);
        EXPECT_EQ(crc, expected) << size << " in " << step << " by " << threads;
        EXPECT_EQ(used, size);
        EXPECT_TRUE(std::ranges::equal(copy, data));
      }
    }
  }
}

// The first and the last piece may be shorter.
TEST(Crc32, OneThreadGetsPiecesInOrderAndOfTheirSize) {
  const Blob data = pattern(10'500, 6);
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  base::ThreadPool one(1);
  base::crc32_in_pieces(0, data, {4000, 300}, one,
                        [&](std::size_t begin, Bytes piece) { ranges.emplace_back(begin, piece.size()); });
  const std::vector<std::pair<std::size_t, std::size_t>> expected{{0, 300}, {300, 4000}, {4300, 4000}, {8300, 2200}};
  EXPECT_EQ(ranges, expected);
}

TEST(Crc32, PassesExceptionsOfTheCallerOn) {
  for (const std::size_t size : {std::size_t{1000}, std::size_t{5} << 20U}) {
    const Blob data = pattern(size, 4);
    EXPECT_THROW(base::crc32_while(0, data, [] { throw std::length_error("the disk"); }), std::length_error) << size;
  }
  const Blob data = pattern(10'000, 6);
  const auto fail_at_the_third = [](std::size_t begin, Bytes) {
    if (begin == 2000) throw std::length_error("the disk");
  };
  for (const std::size_t threads : {1U, 3U}) {
    base::ThreadPool pool(threads);
    EXPECT_THROW(base::crc32_in_pieces(0, data, {1000}, pool, fail_at_the_third), std::length_error);
  }
}

TEST(Crc32, OneThreadIsTheCallers) {
  const Blob data = pattern(std::size_t{64} << 20U, 4);
  const std::size_t before = thread_count();
  base::crc32_while(0, data, [&] { EXPECT_EQ(thread_count(), before); }, 1);
  bool saw_another = false;  // on a busy machine the other thread may end before it is looked for
  for (int i = 0; i < 100 && !saw_another; ++i) {
    base::crc32_while(0, data, [&] { saw_another = thread_count() > before; }, 2);
  }
  EXPECT_TRUE(saw_another);
}

TEST(Crc32, SeesEveryFlippedBit) {
  Blob data = pattern(100);
  const std::uint32_t expected = base::crc32(0, data);
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    flip_bit(data, bit / 8, bit % 8);
    EXPECT_NE(base::crc32(0, data), expected);
    flip_bit(data, bit / 8, bit % 8);
  }
}

}  // namespace
}  // namespace onnxar::testing
