// How ranges of a file are asked for: joined, cut, and several in one request.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_range.h"
#include "onnxar/random_access.h"

namespace onnxar {

/// Of a large range, so that several connections share it. An answer with several ranges is kept in memory until its
/// end, so it has no more bytes either.
inline constexpr std::uint64_t piece_size = 8U << 20U;

/// Joins ranges that nearly touch, and cuts large ones. Leaves out what is from `end` on.
std::vector<base::ByteRange> pieces_of(std::span<const RangeTarget> targets, std::uint64_t end);

/// The pieces as those of one request each, in their order: at most 100, and together at most `piece_size` bytes unless
/// it is one.
std::vector<std::vector<base::ByteRange>> bundles_of(std::span<const base::ByteRange> pieces);

}  // namespace onnxar
