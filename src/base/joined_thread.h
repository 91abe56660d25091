// A thread that the destructor joins. std::jthread would do, but libc++ 19 has it only with a special flag.
#pragma once

#include <concepts>
#include <thread>
#include <type_traits>
#include <utility>

namespace onnxar::base {

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

}  // namespace onnxar::base
