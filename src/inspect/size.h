// The size of a dimension, or another integer of a computation of shapes: a number, a polynomial in the sizes of open
// dimensions, or unknown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace onnxar {

/// The variables of a term in ascending order, each as often as its exponent says.
using Monomial = std::vector<std::uint32_t>;

/// Orders by degree first. The order of two monomials is that of their products with a third, as a division requires.
/// Not by the operator of vectors: on big-endian systems libstdc++ 12 compares as many bytes as there are elements.
struct ByDegree {
  bool operator()(const Monomial& a, const Monomial& b) const {
    return a.size() != b.size() ? a.size() < b.size() : std::ranges::lexicographical_compare(a, b);
  }
};

/// Terms with coefficients other than 0. Without terms, it is 0.
using Polynomial = std::map<Monomial, std::int64_t, ByDegree>;

/// The limit for the degree of a product.
inline constexpr std::size_t most_factors = 6;

/// Adds a multiple of `more` to `sum`. Returns false if a coefficient does not fit in 64 bits; `sum` is then undefined.
[[nodiscard]] bool add_multiple(Polynomial& sum, const Polynomial& more, std::int64_t factor);

/// Returns the product; empty if a coefficient does not fit in 64 bits, or the degree exceeds `most_factors`. Cost: the
/// product of the numbers of terms.
[[nodiscard]] std::optional<Polynomial> product_of(const Polynomial& a, const Polynomial& b);

/// Returns the quotient; empty if the division has a remainder, or takes more than `most_steps` steps. REQUIRES:
/// divisor != 0
[[nodiscard]] std::optional<Polynomial> exact_quotient(Polynomial dividend, const Polynomial& divisor,
                                                       std::size_t most_steps);

// Limits the number of steps of an estimate of cost.

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
