// Joins ranges of bytes, and finds the gaps between them.
#include "base/range_set.h"

#include <algorithm>
#include <iterator>

#include "base/byte_range.h"

namespace onnxar::base {

void RangeSet::add(const ByteRange& range) {
  if (range.length == 0) return;
  std::uint64_t begin = range.offset;
  std::uint64_t end = range.end();
  auto at = ends_.upper_bound(begin);
  if (at != ends_.begin() && std::prev(at)->second >= begin) begin = (--at)->first;
  while (at != ends_.end() && at->first <= end) {
    end = std::max(end, at->second);
    bytes_ -= at->second - at->first;
    at = ends_.erase(at);
  }
  ends_.emplace_hint(at, begin, end);
  bytes_ += end - begin;
}

std::vector<ByteRange> RangeSet::missing_in(const ByteRange& range) const {
  std::vector<ByteRange> missing;
  std::uint64_t at = range.offset;
  auto next = ends_.upper_bound(at);
  if (next != ends_.begin()) at = std::max(at, std::prev(next)->second);
  for (; next != ends_.end() && next->first < range.end(); ++next) {
    missing.push_back({at, next->first - at});
    at = next->second;
  }
  if (at < range.end()) missing.push_back({at, range.end() - at});
  return missing;
}

std::vector<ByteRange> RangeSet::ranges() const {
  std::vector<ByteRange> all;
  for (const auto& [begin, end] : ends_) all.push_back({begin, end - begin});
  return all;
}

}  // namespace onnxar::base
