// Joins ranges that nearly touch, cuts large ones, and groups small ones into requests.
#include "remote/pieces.h"

#include <algorithm>

#include "base/byte_range.h"

namespace onnxar {
namespace {

constexpr std::uint64_t most_between = 32U << 10U;  // unneeded bytes that are read to save a request
constexpr std::size_t most_in_one = 100;            // ranges in a request; servers limit them and the length of a line

}  // namespace

std::uint64_t bytes_of(std::span<const base::ByteRange> ranges) {
  std::uint64_t bytes = 0;
  for (const base::ByteRange& range : ranges) bytes += range.length;
  return bytes;
}

std::vector<base::ByteRange> runs_of(std::span<const base::ByteRange> ranges, std::size_t connections) {
  constexpr std::uint64_t most_pieces = 16;
  const std::uint64_t most =
      piece_size * std::clamp<std::uint64_t>(bytes_of(ranges) / piece_size / 2 / connections, 1, most_pieces);
  std::vector<base::ByteRange> runs;
  for (const base::ByteRange& range : ranges) {
    for (std::uint64_t at = range.offset; at < range.end(); at += most)
      runs.push_back({at, std::min(most, range.end() - at)});
  }
  return runs;
}

std::vector<base::ByteRange> nearly_touching_joined(std::span<const base::ByteRange> ranges) {
  std::vector<base::ByteRange> joined;
  for (const base::ByteRange& range : ranges) {
    if (!joined.empty() && range.offset - joined.back().end() <= most_between) {
      joined.back().length = range.end() - joined.back().offset;
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

std::vector<base::ByteRange> pieces_of(std::span<const RangeTarget> targets, std::uint64_t end) {
  std::vector<base::ByteRange> wanted;
  for (const RangeTarget& target : targets) {
    if (target.target.empty() || target.offset >= end) continue;
    wanted.push_back({target.offset, std::min<std::uint64_t>(target.target.size(), end - target.offset)});
  }
  std::vector<base::ByteRange> pieces;
  for (base::ByteRange range : nearly_touching_joined(wanted)) {
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
