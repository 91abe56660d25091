// One piece of work after another, on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace onnxar::base {

/// Calls `work` with 0 to count - 1, each once, on up to `threads` threads (0: as many as there are cores), the
/// caller's among them, and returns when all are done. After an exception no more are begun; the one of the smallest
/// number comes through. Threads that the system does not give are done without.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace onnxar::base
