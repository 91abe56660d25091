// Something that is made in steps, for a caller who may lose an exception or share it between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

namespace onnxar::base {

/// Lets one step at a time through, and none after one that failed: what is there then is not what the caller asked
/// for, and publishing it would put something broken in the place of something good.
///
/// A step that finds another one at work touches nothing and fails the whole: the caller shares it between threads, or
/// calls it from a callback. The step that was at work learns of it when it ends, or before it publishes (`close`).
/// Threads: all members may be called at once. A moved-from object takes assignment and destruction only.
class Steps {
 public:
  Steps() : state_(std::make_unique<State>()) {}

  /// Calls `action`, which messages call `name`, and gives what it gives. Errors: usage.writer_failed,
  /// usage.writer_busy, usage.writer_finished; what `action` throws, after which no step follows.
  template <typename Action>
  decltype(auto) take(std::string_view name, const Action& action) {
    begin(name);
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
      fail(name);
      throw;
    }
  }

  /// Within the last step, before it publishes: no step follows. Errors: usage.writer_busy if another one came.
  void close();

 private:
  enum class Stage : std::uint8_t { idle, at_work, closed, failed };

  struct State {
    std::mutex mutex;
    Stage stage = Stage::idle;
    std::string_view at_work;  // the name of the step; names are literals
    std::string failure;       // what failed first
  };

  void begin(std::string_view name);
  void end();
  void fail(std::string_view name) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace onnxar::base
