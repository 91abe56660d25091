// What this program allocates: a measure of work that no load of the machine changes.
#pragma once

#include <cstddef>

namespace onnxar::testing {

/// How many times this thread has allocated memory.
std::size_t allocations_so_far() noexcept;

}  // namespace onnxar::testing
