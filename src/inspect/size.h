// The size of a dimension, or another integer of a computation of shapes: a number, a polynomial in the sizes of open
// dimensions, or unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "inspect/polynomial.h"

namespace onnxar {

/// Sums and products are exact. They are unknown if an operand is, a number does not fit in 64 bits, or a polynomial
/// exceeds its limits, so their cost is constant.
class Size {
 public:
  /// The limit for the terms of a polynomial.
  static constexpr std::size_t most_terms = 8;

  Size() = default;                                        ///< unknown
  Size(std::int64_t number) noexcept : number_(number) {}  // NOLINT: mixes with plain numbers; -2^63 is unknown
  explicit Size(const Polynomial& polynomial);
  static Size of_variable(std::uint32_t variable) { return Size(Polynomial{{Monomial{variable}, 1}}); }

  [[nodiscard]] bool is_known() const noexcept { return number_ != nothing || open_ != nullptr; }
  /// True if it is a polynomial that is not constant.
  [[nodiscard]] bool is_open() const noexcept { return open_ != nullptr; }
  /// Returns the number; empty for a polynomial that is not constant, and if unknown.
  [[nodiscard]] std::optional<std::int64_t> number() const noexcept {
    return number_ == nothing ? std::nullopt : std::optional(number_);
  }
  /// REQUIRES: is_known()
  [[nodiscard]] Polynomial polynomial() const;
  /// Divides without remainder: numbers with any divisor other than 0 and -1, polynomials also with each other. Unknown
  /// if there is a remainder.
  [[nodiscard]] Size divided_exactly(const Size& divisor) const;
  /// Divides and rounds down. Unknown if the result is not a polynomial. REQUIRES: divisor >= 1
  [[nodiscard]] Size divided_down(std::int64_t divisor) const;

  friend Size operator+(const Size& a, const Size& b) { return a.plus(b); }
  friend Size operator-(const Size& a, const Size& b) { return a.minus(b); }
  friend Size operator*(const Size& a, const Size& b) { return a.times(b); }
  /// True if both are the same number or polynomial. Polynomials that differ may have the same value.
  friend bool operator==(const Size& a, const Size& b) { return a.is_same(b); }

 private:
  [[nodiscard]] Size plus(const Size& b) const;
  [[nodiscard]] Size minus(const Size& b) const;
  [[nodiscard]] Size times(const Size& b) const;
  [[nodiscard]] bool is_same(const Size& b) const;

  static constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();

  std::int64_t number_ = nothing;
  std::shared_ptr<const Polynomial> open_;
};

/// The limit for dimensions of a shape, and for integers of a tensor that may be a shape. Longer ones count as unknown,
/// so that a chain of Concat nodes cannot grow shapes without a limit.
inline constexpr std::size_t most_values = 64;

/// Every dimension is 0 or more, or unknown.
using Shape = std::vector<Size>;

}  // namespace onnxar
