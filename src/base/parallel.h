// Runs loops on several threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <type_traits>
#include <utility>

namespace onnxar::base {

// A thread that the destructor joins. std::jthread would do, but libc++ 19 has it only with a special flag.

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

  /// Waits for the end of the thread, unless that was done before.
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

/// Work on at least this many bytes is worth a further thread, which costs about 30 us to start.
inline constexpr std::size_t worth_a_thread = 2U << 20U;

/// The number of threads that `threads` asks for: 0 means one per core. At least one.
std::size_t allowed_threads(std::size_t threads) noexcept;

/// The number of threads for work on `bytes` bytes: what `threads` asks for; if that is 0, no more than the work is
/// worth. At least one.
std::size_t threads_for(std::uint64_t bytes, std::size_t threads) noexcept;

/// Calls `work` with 0 to count - 1, each once, on up to `threads` threads (0: as many as there are cores), the
/// caller's among them, and returns when all are done. After an exception no more calls begin; the exception of the
/// smallest number is rethrown. If the system refuses a thread, the others do its work.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace onnxar::base
