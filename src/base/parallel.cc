// Divides a loop among threads.
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace onnxar::base {
namespace {

/// Hands out numbers in ascending order. All calls with smaller numbers have therefore begun before a failed call, so
/// timing does not determine which of several failures is rethrown.
class Queue {
 public:
  Queue(std::size_t count, const std::function<void(std::size_t)>& work) : count_(count), work_(work) {}

  void run() noexcept {
    while (!failed_) {
      const std::size_t i = next_++;
      if (i >= count_) return;
      try {
        work_(i);  // even if another call failed meanwhile: rethrow() relies on that
      } catch (...) {
        note_failure(i);
      }
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void note_failure(std::size_t i) noexcept {
    const std::scoped_lock lock(mutex_);
    if (!failed_ || i < failed_at_) {
      failure_ = std::current_exception();
      failed_at_ = i;
    }
    failed_ = true;
  }

  std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::size_t failed_at_ = 0;
  std::exception_ptr failure_;
};

/// Starts one more thread. Returns false if the system refuses it.
bool add_thread(std::vector<JoinedThread>& threads, Queue& queue) {
  try {
    threads.emplace_back([&queue] { queue.run(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

std::size_t allowed_threads(std::size_t threads) noexcept {
  return threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

std::size_t threads_for(std::uint64_t bytes, std::size_t threads) noexcept {
  if (threads != 0) return threads;
  return static_cast<std::size_t>(std::min<std::uint64_t>(allowed_threads(0), 1 + bytes / worth_a_thread));
}

void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
  threads = std::min(allowed_threads(threads), count);
  Queue queue(count, work);
  {
    std::vector<JoinedThread> helpers;  // joined at the end of this block
    bool more = true;
    while (more && helpers.size() + 1 < threads) more = add_thread(helpers, queue);
    queue.run();
  }
  queue.rethrow();
}

}  // namespace onnxar::base
