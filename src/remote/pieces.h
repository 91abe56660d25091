// Plans how ranges of a file are requested: joined, cut, and several in one request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_range.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// The bytes of a piece of a large range, so that several connections share it; the last one is shorter. An answer with
/// several ranges is kept in memory until its end, so it has no more bytes either.
inline constexpr std::uint64_t piece_size = 8U << 20U;

/// Joins ranges that nearly touch, and cuts large ones. Leaves out what is from `end` on.
std::vector<base::ByteRange> pieces_of(std::span<const RangeTarget> targets, std::uint64_t end);

/// Returns the pieces as those of one request each, in their order: at most 100, and together at most `piece_size`
/// bytes unless it is one.
std::vector<std::vector<base::ByteRange>> bundles_of(std::span<const base::ByteRange> pieces);

/// Returns the number of bytes in the ranges.
std::uint64_t bytes_of(std::span<const base::ByteRange> ranges);

/// Returns ranges, in their order, as long runs: a request costs a round trip, in which its connection is idle. Each
/// connection gets two runs or more, so that all of them end at about the same time.
std::vector<base::ByteRange> runs_of(std::span<const base::ByteRange> ranges, std::size_t connections);

/// Joins ranges, in their order, whose gaps are so small that reading them costs less than a request.
std::vector<base::ByteRange> nearly_touching_joined(std::span<const base::ByteRange> ranges);

}  // namespace onnxar
