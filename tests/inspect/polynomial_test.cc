// Tests costs as polynomials of open dimensions.
#include "inspect/polynomial.h"

#include <gtest/gtest.h>

#include <limits>

namespace onnxar::testing {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

const Polynomial in_x = {{{0}, 1}};
const Polynomial in_y = {{{1}, 1}};

Polynomial plus(Polynomial a, const Polynomial& b, std::int64_t factor = 1) {
  EXPECT_TRUE(add_multiple(a, b, factor));
  return a;
}
Polynomial constant_of(std::int64_t number) { return {{{}, number}}; }

TEST(Polynomials, TermsThatCancelAreGone) {
  EXPECT_EQ(plus(plus(in_x, in_y), in_x, -1), in_y);
  EXPECT_TRUE(plus(in_x, in_x, -1).empty());
}

TEST(Polynomials, AProductHasAllTerms) {
  const Polynomial square = {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 1}, 1}};
  EXPECT_EQ(product_of(plus(in_x, in_y), plus(in_x, in_y)), square);
  const Polynomial difference = {{{0, 0}, 1}, {{1, 1}, -1}};
  EXPECT_EQ(product_of(plus(in_x, in_y), plus(in_x, in_y, -1)), difference);
}

TEST(Polynomials, QuotientIsExactOrDoesNotExist) {
  const Polynomial product = *product_of(plus(in_x, constant_of(3)), plus(in_y, constant_of(2), -1));
  EXPECT_EQ(exact_quotient(product, plus(in_x, constant_of(3)), 8), plus(in_y, constant_of(2), -1));
  EXPECT_EQ(exact_quotient(product, plus(in_x, constant_of(2)), 8), std::nullopt);
  EXPECT_EQ(exact_quotient(Polynomial{{{0}, 6}, {{}, 4}}, constant_of(2), 8), (Polynomial{{{0}, 3}, {{}, 2}}));
  EXPECT_EQ(exact_quotient(Polynomial{{{0}, 6}, {{}, 4}}, constant_of(4), 8), std::nullopt);
  EXPECT_EQ(exact_quotient(in_x, in_y, 8), std::nullopt);
  EXPECT_EQ(exact_quotient(product, plus(in_x, constant_of(3)), 1), std::nullopt) << "more steps than allowed";
}

TEST(Polynomials, WhatLeaves64BitsIsRefused) {
  Polynomial sum = constant_of(largest);
  EXPECT_FALSE(add_multiple(sum, constant_of(1), 1));
  EXPECT_EQ(product_of({{{0}, largest}}, {{{1}, 2}}), std::nullopt);
  EXPECT_EQ(exact_quotient(constant_of(std::numeric_limits<std::int64_t>::min()), constant_of(-1), 8), std::nullopt);
}

TEST(Polynomials, ADegreeBeyondTheLimitIsRefused) {
  Polynomial power = constant_of(1);
  for (std::size_t i = 0; i < most_factors; ++i) power = *product_of(power, in_x);
  EXPECT_EQ(power.begin()->first.size(), most_factors);
  EXPECT_EQ(product_of(power, in_x), std::nullopt);
}

}  // namespace
}  // namespace onnxar::testing
