// Remembers which bytes of a file are in one place, such as a part that was downloaded.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/byte_range.h"

namespace onnxar::base {

/// A set of bytes, as ranges that do not touch. REQUIRES: no range ends beyond 2^64 - 1.
class RangeSet {
 public:
  /// Adds a range, which may overlap with others.
  void add(const ByteRange& range);
  /// True if the set has all bytes of the range.
  [[nodiscard]] bool has(const ByteRange& range) const { return missing_in(range).empty(); }
  /// Returns the parts of the range that the set does not have, in their order.
  [[nodiscard]] std::vector<ByteRange> missing_in(const ByteRange& range) const;
  /// Returns the ranges, in their order.
  [[nodiscard]] std::vector<ByteRange> ranges() const;
  /// Returns the number of bytes in the set.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // begin -> end
  std::uint64_t bytes_ = 0;
};

}  // namespace onnxar::base
