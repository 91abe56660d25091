#include "remote/pieces.h"

#include <algorithm>

namespace onnxar {
namespace {

constexpr std::uint64_t most_between = 32U << 10U;  // bytes that are read in vain to save a request
constexpr std::size_t most_in_one = 100;            // ranges in a request; servers limit them and the length of a line

}  // namespace

std::vector<base::ByteRange> pieces_of(std::span<const RangeTarget> targets, std::uint64_t end) {
  std::vector<base::ByteRange> joined;
  for (const RangeTarget& target : targets) {
    if (target.target.empty() || target.offset >= end) continue;
    const std::uint64_t length = std::min<std::uint64_t>(target.target.size(), end - target.offset);
    if (!joined.empty() && target.offset - joined.back().end() <= most_between) {
      joined.back().length = target.offset + length - joined.back().offset;
    } else {
      joined.push_back({target.offset, length});
    }
  }
  std::vector<base::ByteRange> pieces;
  for (base::ByteRange range : joined) {
    while (range.length > piece_size + piece_size / 2) {
      pieces.push_back({range.offset, piece_size});
      range = {range.offset + piece_size, range.length - piece_size};
    }
    pieces.push_back(range);
  }
  return pieces;
}

std::vector<std::vector<base::ByteRange>> bundles_of(std::span<const base::ByteRange> pieces) {
  std::vector<std::vector<base::ByteRange>> bundles;
  std::uint64_t bytes = 0;
  for (const base::ByteRange& piece : pieces) {
    const bool fits = !bundles.empty() && bundles.back().size() < most_in_one && bytes <= piece_size &&
                      piece.length <= piece_size - bytes;
    if (!fits) {
      bundles.emplace_back();
      bytes = 0;
    }
    bundles.back().push_back(piece);
    bytes += piece.length;
  }
  return bundles;
}

}  // namespace onnxar
