// Ends a sequence of steps permanently with the first failure, even if the caller swallows the exception.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

namespace onnxar::base {

/// Admits one step at a time, and no step after a failed one: the output is then incomplete, and publishing it could
/// replace a good file with a broken one.
///
/// A step that begins during another step does nothing but make the whole sequence fail: the caller shares the object
/// between threads, or calls it from a callback. The running step fails when it ends, or before it publishes (`close`).
/// Threads: all members may be called at once. A moved-from object may only be assigned to or destroyed.
class Steps {
 public:
  Steps() : state_(std::make_unique<State>()) {}

  /// Calls `action` and returns its result. Messages do not name functions, because each interface has different names.
  /// Throws usage.writer_failed, usage.writer_busy, usage.writer_finished, and what `action` throws; after that, no
  /// step is admitted.
  template <typename Action>
  decltype(auto) take(const Action& action) {
    begin();
    try {
      if constexpr (std::is_void_v<decltype(action())>) {
        action();
        end();
      } else {
        decltype(auto) result = action();
        end();
        return result;
      }
    } catch (...) {
      fail();
      throw;
    }
  }

  /// Ends the sequence: no further step is admitted. Must be called in the last step before it publishes. Throws
  /// usage.writer_busy if another step tried to begin.
  void close();

 private:
  enum class Stage : std::uint8_t { idle, at_work, closed, failed };

  struct State {
    std::mutex mutex;
    Stage stage = Stage::idle;
    std::string failure;  // the first failure
  };

  void begin();
  void end();
  void fail() noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace onnxar::base
