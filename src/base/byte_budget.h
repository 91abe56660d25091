// Limits the bytes made from an input to a multiple of its size.
#pragma once

#include <cstdint>
#include <limits>

#include "base/checked.h"

namespace onnxar::base {

/// Limits the bytes made from an input to a multiple of the input's size. Input is not trusted, and few bytes can ask
/// for many: deflate expands a thousandfold, and tensors may overlap. The multiple bounds the cost of every file by its
/// size. Ordinary files stay far below it.
class ByteBudget {
 public:
  /// Allows `input` bytes to become `times` as many.
  constexpr ByteBudget(std::uint64_t input, std::uint64_t times) noexcept : input_(input), times_(times) {}

  /// Counts `bytes` more. Returns false, and counts nothing, if they are too many.
  [[nodiscard]] bool add(std::uint64_t bytes) noexcept {
    const auto sum = checked_add(made_, bytes);
    if (!sum || !allows(*sum)) return false;
    made_ = *sum;
    return true;
  }
  /// True if a total of `bytes` is within the budget, regardless of the bytes counted so far.
  [[nodiscard]] bool allows(std::uint64_t bytes) const noexcept { return bytes <= most(); }
  /// Returns the maximum total number of bytes. A product beyond 64 bits sets no limit.
  [[nodiscard]] std::uint64_t most() const noexcept {
    return checked_multiply(input_, times_).value_or(std::numeric_limits<std::uint64_t>::max());
  }

  [[nodiscard]] std::uint64_t input() const noexcept { return input_; }
  [[nodiscard]] std::uint64_t times() const noexcept { return times_; }
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }

 private:
  std::uint64_t input_;
  std::uint64_t times_;
  std::uint64_t made_ = 0;
};

}  // namespace onnxar::base
