// Runs work on other threads: a thread that is joined, and loops on several threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

namespace onnxar::base {

/// Joins a thread in the destructor, like std::jthread, which libc++ 19 has only with a special flag.

class JoinedThread {
 public:
  template <typename Work, typename... Arguments>
    requires(!std::same_as<std::remove_cvref_t<Work>, JoinedThread>)
  explicit JoinedThread(Work&& work, Arguments&&... arguments)
      : thread_(std::forward<Work>(work), std::forward<Arguments>(arguments)...) {}
  JoinedThread(JoinedThread&&) = default;
  JoinedThread& operator=(JoinedThread&&) = delete;
  JoinedThread(const JoinedThread&) = delete;
  JoinedThread& operator=(const JoinedThread&) = delete;
  ~JoinedThread() { join(); }

  /// Waits for the end of the thread, unless it was joined before.
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

/// The number of bytes from which another thread is worthwhile; starting a thread and waiting for its end takes 0.1 ms.
inline constexpr std::size_t worth_a_thread = 2U << 20U;

/// Returns the number of threads that `threads` asks for, at least 1; 0 means one per core.
std::size_t allowed_threads(std::size_t threads) noexcept;

/// Returns the number of threads for work on `bytes` bytes, at least 1: what `threads` asks for or, if that is 0, no
/// more than the work is worth.
std::size_t threads_for(std::uint64_t bytes, std::size_t threads) noexcept;

/// Calls `work` once with each number from 0 to count - 1, on up to `threads` threads (0: as many as there are cores),
/// including the caller's, and returns when all calls have ended. After an exception, begins no more calls, and
/// rethrows the exception of the smallest number. If the system refuses a thread, the others do its work.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

/// Runs loops one after another, and keeps its threads between them. They end with the pool. In a forked process, which
/// does not have them, loops run on the caller's thread. Not synchronised.
class ThreadPool {
 public:
  /// Starts no thread before one is needed. `threads` includes the caller's; 0 means one per core.
  explicit ThreadPool(std::size_t threads) noexcept;
  ThreadPool(ThreadPool&& other) noexcept;
  ThreadPool& operator=(ThreadPool&&) = delete;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// Calls `work` like parallel_for, which is a pool with one loop.
  void run(std::size_t count, const std::function<void(std::size_t)>& work);

 private:
  class Queue;
  struct Helpers;

  std::size_t threads_;
  std::unique_ptr<Helpers> helpers_;  // null until a loop needs them
};

}  // namespace onnxar::base
