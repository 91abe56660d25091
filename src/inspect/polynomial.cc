// Calculates with polynomials, and refuses coefficients that do not fit in 64 bits.
#include "inspect/polynomial.h"

#include <algorithm>
#include <iterator>

#include "base/checked.h"

namespace onnxar {
namespace {

using base::CheckedInt;

bool add_term(Polynomial& sum, const Monomial& factors, CheckedInt coefficient) {
  const auto row = sum.try_emplace(factors, 0).first;
  const auto total = (coefficient + row->second).value();
  if (!total) return false;
  row->second = *total;
  if (*total == 0) sum.erase(row);
  return true;
}

/// Returns the factors of `whole` without those of `part`. Empty if `part` does not divide it.
std::optional<Monomial> quotient_of(const Monomial& whole, const Monomial& part) {
  if (!std::ranges::includes(whole, part)) return std::nullopt;
  Monomial rest;
  std::ranges::set_difference(whole, part, std::back_inserter(rest));
  return rest;
}

}  // namespace

bool add_multiple(Polynomial& sum, const Polynomial& more, std::int64_t factor) {
  return std::ranges::all_of(
      more, [&](const auto& term) { return add_term(sum, term.first, CheckedInt(term.second) * factor); });
}

std::optional<Polynomial> product_of(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  for (const auto& [left, x] : a) {
    for (const auto& [right, y] : b) {
      Monomial factors;
      std::ranges::merge(left, right, std::back_inserter(factors));
      if (factors.size() > most_factors || !add_term(product, factors, CheckedInt(x) * y)) return std::nullopt;
    }
  }
  return product;
}

std::optional<Polynomial> exact_quotient(Polynomial dividend, const Polynomial& divisor, std::size_t most_steps) {
  const auto& [highest, by] = *divisor.rbegin();
  Polynomial quotient;
  for (std::size_t step = 0; !dividend.empty(); ++step) {
    const auto& [factors, coefficient] = *dividend.rbegin();
    const auto rest = quotient_of(factors, highest);
    // The division by -1 is left out because it may overflow.
    if (step == most_steps || !rest || by == -1 || coefficient % by != 0) return std::nullopt;
    const Polynomial next = {{*rest, coefficient / by}};
    const auto taken = product_of(next, divisor);
    if (!taken || !add_multiple(quotient, next, 1) || !add_multiple(dividend, *taken, -1)) return std::nullopt;
  }
  return quotient;
}

}  // namespace onnxar
