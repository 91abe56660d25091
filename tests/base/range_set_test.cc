// Tests sets of byte ranges.
#include "base/range_set.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/byte_range.h"

namespace onnxar::testing {
namespace {

using base::ByteRange;
using base::RangeSet;

using Ranges = std::vector<ByteRange>;

RangeSet set_of(const Ranges& ranges) {
  RangeSet set;
  for (const ByteRange& range : ranges) set.add(range);
  return set;
}

TEST(RangeSet, JoinsRangesThatTouchOrOverlap) {
  EXPECT_EQ(set_of({{0, 4}, {8, 4}, {4, 4}}).ranges(), (Ranges{{0, 12}}));
  EXPECT_EQ(set_of({{2, 4}, {20, 5}, {0, 22}}).ranges(), (Ranges{{0, 25}}));
  EXPECT_EQ(set_of({{0, 10}, {3, 2}, {11, 0}}).ranges(), (Ranges{{0, 10}}));
}

TEST(RangeSet, FindsGaps) {
  const RangeSet set = set_of({{10, 5}, {20, 5}});
  EXPECT_EQ(set.missing_in({0, 30}), (Ranges{{0, 10}, {15, 5}, {25, 5}}));
  EXPECT_EQ(set.missing_in({12, 10}), (Ranges{{15, 5}}));
  EXPECT_EQ(set.missing_in({11, 2}), Ranges());
  EXPECT_EQ(set.missing_in({16, 2}), (Ranges{{16, 2}}));
}

TEST(RangeSet, AgreesWithASetOfBytes) {
  std::mt19937 random(7);  // NOLINT: the same numbers each time
  std::vector<bool> bytes(200);
  RangeSet set;
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t begin = random() % 190, length = random() % 10;
    set.add({begin, length});
    std::uint64_t count = 0;
    for (std::uint64_t at = begin; at < begin + length; ++at) bytes[at] = true;
    for (std::uint64_t at = 0; at < bytes.size(); ++at) {
      EXPECT_EQ(set.has({at, 1}), bytes[at]);
      count += bytes[at] ? 1U : 0U;
    }
    EXPECT_EQ(set.bytes(), count);
  }
}

}  // namespace
}  // namespace onnxar::testing
