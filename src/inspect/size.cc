// Calculates with sizes of dimensions: numbers and polynomials in the sizes of open dimensions.
#include "inspect/size.h"

#include "base/checked.h"

namespace onnxar {
namespace {

Size combined(const Size& a, const Size& b, std::int64_t factor) {
  if (!a.is_known() || !b.is_known()) return {};
  Polynomial sum = a.polynomial();
  return add_multiple(sum, b.polynomial(), factor) ? Size(sum) : Size();
}

Size checked_size(base::CheckedInt number) {
  const auto value = number.value();
  return value ? Size(*value) : Size();
}

}  // namespace

Size::Size(const Polynomial& polynomial) {
  const bool is_constant = polynomial.empty() || polynomial.rbegin()->first.empty();
  if (is_constant) {
    number_ = polynomial.empty() ? 0 : polynomial.begin()->second;
  } else if (polynomial.size() <= most_terms) {
    open_ = std::make_shared<const Polynomial>(polynomial);
  }
}

Polynomial Size::polynomial() const {
  if (open_ != nullptr) return *open_;
  return number_ == 0 ? Polynomial() : Polynomial{{Monomial(), number_}};
}

Size Size::divided_exactly(const Size& divisor) const {
  if (!is_known() || !divisor.is_known() || divisor == 0 || divisor == -1) return {};
  if (number() && divisor.number()) return number_ % divisor.number_ == 0 ? Size(number_ / divisor.number_) : Size();
  const auto quotient = exact_quotient(polynomial(), divisor.polynomial(), most_terms);
  return quotient ? Size(*quotient) : Size();
}

Size Size::divided_down(std::int64_t divisor) const {
  if (!is_known()) return {};
  Polynomial terms = polynomial();
  const auto first = terms.find(Monomial());
  const std::int64_t constant = first == terms.end() ? 0 : first->second;
  if (first != terms.end()) terms.erase(first);
  // The other terms have no remainder, so the one of the constant decides.
  const std::int64_t whole = constant / divisor - (constant % divisor < 0 ? 1 : 0);
  return Size(terms).divided_exactly(divisor) + whole;
}

Size Size::plus(const Size& b) const {
  return number() && b.number() ? checked_size(base::CheckedInt(number_) + b.number_) : combined(*this, b, 1);
}

Size Size::minus(const Size& b) const {
  return number() && b.number() ? checked_size(base::CheckedInt(number_) - b.number_) : combined(*this, b, -1);
}

Size Size::times(const Size& b) const {
  if (number() && b.number()) return checked_size(base::CheckedInt(number_) * b.number_);
  if (!is_known() || !b.is_known()) return {};
  const auto product = product_of(polynomial(), b.polynomial());
  return product ? Size(*product) : Size();
}

bool Size::is_same(const Size& b) const {
  if (number_ != b.number_ || is_open() != b.is_open()) return false;
  return open_ == b.open_ || *open_ == *b.open_;
}

}  // namespace onnxar
