// One piece of work after another, on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace onnxar::base {

/// So many bytes are worth a thread of their own, which costs some 30 us.
inline constexpr std::size_t worth_a_thread = 2U << 20U;

/// What `threads` stands for: as many as there are cores if it is 0; at least one.
std::size_t allowed_threads(std::size_t threads) noexcept;

/// Calls `work` with 0 to count - 1, each once, on up to `threads` threads (0: as many as there are cores), the
/// caller's among them, and returns when all are done. After an exception no more are begun; the one of the smallest
/// number comes through. Threads that the system does not give are done without.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace onnxar::base
