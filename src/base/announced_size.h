// Sums of sizes that sources announce.
#pragma once

#include <cstdint>

#include "onnxar/error.h"

namespace onnxar::base {

/// The largest sum. It is twice the largest entry of an archive, which leaves room for messages, names and padding, and
/// keeps offsets below 2^63, which file systems require.
inline constexpr std::uint64_t largest_sum = 1ULL << 61U;

/// Returns `total + size`. A source of the caller may announce any size, and a sum that wrapped would pass every later
/// limit. REQUIRES: limit <= largest_sum. Errors: usage.argument, at `place`: the sum is over `limit`.
std::uint64_t add_announced(std::uint64_t total, std::uint64_t size, const Place& place = {},
                            std::uint64_t limit = largest_sum);

}  // namespace onnxar::base
