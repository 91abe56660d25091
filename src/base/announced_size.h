// Sums of sizes that sources announce.
#pragma once

#include <cstdint>

#include "onnxar/error.h"

namespace onnxar::base {

/// The largest size that is planned for. It keeps offsets below 2^63, which file systems require, even if alignment and
/// headers are added.
inline constexpr std::uint64_t largest_planned = 1ULL << 60U;

/// Returns `total + size`. A source of the caller may announce any size, and a sum that wrapped would pass every later
/// limit. Errors: usage.argument, at `place`: the sum is over `largest_planned`.
std::uint64_t add_announced(std::uint64_t total, std::uint64_t size, const Place& place = {});

}  // namespace onnxar::base
