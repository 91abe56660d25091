// The number of steps that an estimate of cost may take.
#pragma once

#include <cstdint>

namespace onnxar {

/// Counts steps: a lookup, a value of a shape, eight bytes of a name. The analysis spends them before it works. Once
/// they are spent, everything that it has not reached is unknown. So work and memory are linear in the size of the
/// model, even for functions that call each other twice at every level, which expand to 2^n calls.
class Budget {
 public:
  static constexpr std::uint64_t steps_per_byte = 64;
  static constexpr std::uint64_t steps_for_all = 16'000'000;  // lets small models expand their functions

  explicit Budget(std::uint64_t steps) noexcept : left_(steps) {}
  /// `bytes`: the size of the model, below 2^31, so that nothing overflows.
  static Budget for_model(std::uint64_t bytes) noexcept { return Budget(steps_per_byte * bytes + steps_for_all); }

  /// Takes `steps` if so many are left. Otherwise returns false, and leaves none: a later, smaller request must not
  /// succeed, because what the analysis then sees would depend on the order of requests.
  bool spend(std::uint64_t steps) noexcept {
    spent_ = spent_ || steps > left_;
    left_ = spent_ ? 0 : left_ - steps;
    taken_ += spent_ ? 0 : steps;
    return !spent_;
  }
  [[nodiscard]] bool is_spent() const noexcept { return spent_; }
  /// The steps that were granted so far.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

  /// The steps for looking up a name, or comparing it.
  static std::uint64_t of_name(std::uint64_t size) noexcept { return 1 + size / 8; }

 private:
  std::uint64_t left_;
  std::uint64_t taken_ = 0;
  bool spent_ = false;
};

}  // namespace onnxar
