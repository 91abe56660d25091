// Tests how ranges become requests.
#include "remote/pieces.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "base/byte_range.h"

namespace onnxar::testing {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // offset, length

Ranges plain(const std::vector<base::ByteRange>& ranges) {
  Ranges found;
  for (const base::ByteRange& range : ranges) found.emplace_back(range.offset, range.length);
  return found;
}

/// The pieces of ranges whose memory is not touched.
Ranges pieces(const Ranges& ranges, std::uint64_t end) {
  std::vector<std::byte> memory(64 * mib);
  std::vector<RangeTarget> targets;
  for (const auto& [offset, length] : ranges) targets.push_back({offset, std::span(memory).first(length)});
  return plain(pieces_of(targets, end));
}

TEST(Pieces, JoinWhatNearlyTouches) {
  EXPECT_EQ(pieces({{0, 10}, {10 + 32 * kib, 10}}, mib), (Ranges{{0, 20 + 32 * kib}}));
  EXPECT_EQ(pieces({{0, 10}, {11 + 32 * kib, 10}}, mib), (Ranges{{0, 10}, {11 + 32 * kib, 10}}));
}

TEST(Pieces, OfALargeRangeAreCutAndNoneIsShort) {
  EXPECT_EQ(pieces({{5, 12 * mib}}, 64 * mib), (Ranges{{5, 12 * mib}}));
  EXPECT_EQ(pieces({{5, 21 * mib}}, 64 * mib), (Ranges{{5, 8 * mib}, {5 + 8 * mib, 8 * mib}, {5 + 16 * mib, 5 * mib}}));
}

TEST(Pieces, EndBeforeExistingBytes) {
  EXPECT_EQ(pieces({{0, 10}, {90 * kib, 20 * kib}, {200 * kib, 1}}, 100 * kib),
            (Ranges{{0, 10}, {90 * kib, 10 * kib}}));
  EXPECT_EQ(pieces({{0, 0}}, mib), Ranges());
}

std::vector<std::size_t> sizes(const std::vector<base::ByteRange>& ranges) {
  std::vector<std::size_t> found;
  Ranges all;
  for (const auto& bundle : bundles_of(ranges)) {
    found.push_back(bundle.size());
    for (const auto& piece : plain(bundle)) all.push_back(piece);
  }
  EXPECT_EQ(all, plain(ranges));
  return found;
}

TEST(Bundles, HaveAtMostAHundredPieces) {
  std::vector<base::ByteRange> ranges;
  for (std::uint64_t i = 0; i < 250; ++i) ranges.push_back({i * mib, 10});
  EXPECT_EQ(sizes(ranges), (std::vector<std::size_t>{100, 100, 50}));
}

TEST(Bundles, HaveNoMoreBytesThanOnePiece) {
  EXPECT_EQ(sizes({{0, 3 * mib}, {4 * mib, 5 * mib}, {10 * mib, 1}, {11 * mib, 12 * mib}, {24 * mib, 1}}),
            (std::vector<std::size_t>{2, 1, 1, 1}));
  EXPECT_EQ(sizes({}), std::vector<std::size_t>());
}

}  // namespace
}  // namespace onnxar::testing
