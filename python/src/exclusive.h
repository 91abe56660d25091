// Objects that only one call at a time may use.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "onnxar/error.h"

namespace onnxar::python {

/// Guards an unsynchronised object. While a call runs without the interpreter's lock, other threads, and callbacks of
/// the call itself, may use the object. Such calls are refused: a callback that waits for its own caller would
/// deadlock.
template <typename T>
class Exclusive {
 public:
  Exclusive() = default;
  explicit Exclusive(T value) : value_(std::move(value)) {}
  Exclusive(Exclusive&& other) noexcept : value_(std::move(other.value_)) {}
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;
  Exclusive& operator=(Exclusive&&) = delete;
  ~Exclusive() = default;

  /// Runs `action`. Throws usage.argument (another call is in progress); the errors of `action`.
  template <typename Action>
  auto use(const Action& action) {
    const Turn turn(in_use_);
    return action(value_);
  }

 private:
  class Turn {
   public:
    explicit Turn(std::reference_wrapper<std::atomic_flag> in_use) : in_use_(in_use) {
      if (!in_use_.test_and_set()) return;
      throw Error(Code::usage_argument,
                  "the writer is in use by another thread, or by the call that is writing this weight");
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { in_use_.clear(); }

   private:
    std::atomic_flag& in_use_;
  };

  T value_;
  std::atomic_flag in_use_;
};

}  // namespace onnxar::python
