// Divides a loop among threads.
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/kept.h"
#include "os/process.h"

namespace onnxar::base {

std::size_t allowed_threads(std::size_t threads) noexcept {
  return threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

std::size_t threads_for(std::uint64_t bytes, std::size_t threads) noexcept {
  if (threads != 0) return threads;
  return static_cast<std::size_t>(std::min<std::uint64_t>(allowed_threads(0), 1 + bytes / worth_a_thread));
}

void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
  ThreadPool(threads).run(count, work);
}

/// Hands out numbers in ascending order. All calls with smaller numbers have therefore begun before a failed call, so
/// timing does not determine which of several failures is rethrown.
class ThreadPool::Queue {
 public:
  Queue(std::size_t count, Kept<const std::function<void(std::size_t)>> work) : count_(count), work_(work) {}

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

struct ThreadPool::Helpers {
  /// Starts threads until there are `count`. If the system refuses one, or memory for it, the others do its work.
  void start(std::size_t count) noexcept {
    try {
      // std::thread's class for a type of ours would be a symbol that plugins with this library export.
      while (threads.size() < count) threads.emplace_back(std::function<void()>([this] { help(); }));
    } catch (const std::exception&) {
      return;
    }
  }

  void help() {
    std::unique_lock lock(mutex);
    for (;;) {
      begun.wait(lock, [this] { return is_over || wanted != 0; });
      if (is_over) return;
      --wanted;
      ++busy;
      lock.unlock();
      queue->run();
      lock.lock();
      if (--busy == 0) ended.notify_one();
    }
  }

  /// Works on the queue with `count` helpers. Does not wait for those that have not woken when all numbers are taken.
  void run(Queue& work, std::size_t count) noexcept {
    {
      const std::scoped_lock lock(mutex);
      queue = &work;
      wanted = count;
    }
    begun.notify_all();
    start(count);  // those that are started first begin at once
    work.run();
    std::unique_lock lock(mutex);
    wanted = 0;
    ended.wait(lock, [this] { return busy == 0; });
  }

  void end() {
    {
      const std::scoped_lock lock(mutex);
      is_over = true;
    }
    begun.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  [[nodiscard]] bool are_in_this_process() const noexcept { return forks == os::count_of_forks(); }

  std::vector<std::thread> threads;
  std::size_t forks = os::count_of_forks();
  std::mutex mutex;
  std::condition_variable begun, ended;
  Queue* queue = nullptr;  // of the loop that runs
  std::size_t wanted = 0;  // helpers that the loop waits for
  std::size_t busy = 0;    // helpers that work on the queue
  bool is_over = false;
};

ThreadPool::ThreadPool(std::size_t threads) noexcept : threads_(allowed_threads(threads)) {}

ThreadPool::ThreadPool(ThreadPool&& other) noexcept = default;

ThreadPool::~ThreadPool() {
  if (helpers_ == nullptr) return;
  if (helpers_->are_in_this_process()) {
    helpers_->end();
  } else {
    // Not destroyed: glibc would wait until the threads leave the condition variable.
    [[maybe_unused]] const Helpers* const left = helpers_.release();
  }
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  Queue queue(count, work);
  const std::size_t threads = std::min(threads_, count);
  if (threads > 1 && helpers_ == nullptr) helpers_ = std::make_unique<Helpers>();
  if (threads > 1 && helpers_->are_in_this_process()) {
    helpers_->run(queue, threads - 1);
  } else {
    queue.run();
  }
  queue.rethrow();
}

}  // namespace onnxar::base
