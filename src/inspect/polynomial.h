// Adds, multiplies and divides polynomials with integer coefficients.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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

}  // namespace onnxar
