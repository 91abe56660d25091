// Limits the number of steps of an estimate of cost.
#pragma once

#include <cstdint>

namespace onnxar {

/// Counts steps: a lookup, a value of a shape, eight bytes of a name. The analysis spends steps before it does the
/// work. After all steps are spent, the rest of the model is unknown. Work and memory are therefore linear in the size
/// of the model, even for functions that call each other twice at every level, which expand to 2^n calls.
class Budget {
 public:
  static constexpr std::uint64_t steps_per_byte = 64;
  static constexpr std::uint64_t steps_for_all = 16'000'000;  // lets small models expand their functions

  explicit Budget(std::uint64_t steps) noexcept : left_(steps) {}
  /// `bytes` is the size of the model. It is below 2^31, so the product cannot overflow.
  static Budget for_model(std::uint64_t bytes, std::uint64_t for_all = steps_for_all) noexcept {
    return Budget(steps_per_byte * bytes + for_all);
  }

  /// Takes `steps` if that many are left. Otherwise returns false and discards the rest: a later, smaller request must
  /// not succeed, because the result would then depend on the order of requests.
  bool spend(std::uint64_t steps) noexcept {
    spent_ = spent_ || steps > left_;
    left_ = spent_ ? 0 : left_ - steps;
    taken_ += spent_ ? 0 : steps;
    return !spent_;
  }
  [[nodiscard]] bool is_spent() const noexcept { return spent_; }
  /// Returns the number of steps granted so far.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

  /// Returns the steps for looking up or comparing a name.
  static std::uint64_t of_name(std::uint64_t size) noexcept { return 1 + size / 8; }

 private:
  std::uint64_t left_;
  std::uint64_t taken_ = 0;
  bool spent_ = false;
};

}  // namespace onnxar
