// How much an analysis of a model may do.
#pragma once

#include <cstdint>

namespace onnxar {

/// Counts steps: a lookup, a value of a shape, eight bytes of a name. An analysis takes them before it works; when
/// there are none left, it says of all that it has not seen that it does not know. So its work and its memory are
/// linear in the model, whatever the model is.
class Budget {
 public:
  static constexpr std::uint64_t steps_per_byte = 64;
  static constexpr std::uint64_t steps_for_all = 16'000'000;  // functions of a small model that call each other

  explicit Budget(std::uint64_t steps) noexcept : left_(steps) {}
  /// Of a model of so many bytes, which are below 2^31.
  static Budget for_model(std::uint64_t bytes) noexcept { return Budget(steps_per_byte * bytes + steps_for_all); }

  /// Whether there were as many. If not, there are none left from here on.
  bool spend(std::uint64_t steps) noexcept {
    spent_ = spent_ || steps > left_;
    left_ = spent_ ? 0 : left_ - steps;
    taken_ += spent_ ? 0 : steps;
    return !spent_;
  }
  [[nodiscard]] bool is_spent() const noexcept { return spent_; }
  /// Steps that were granted.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

  /// Of work on a name: to look it up, or to compare it.
  static std::uint64_t of_name(std::uint64_t size) noexcept { return 1 + size / 8; }

 private:
  std::uint64_t left_;
  std::uint64_t taken_ = 0;
  bool spent_ = false;
};

}  // namespace onnxar
