// Operators that exporters use to compute shapes: arithmetic on a few integers, and what takes its results.
#include <algorithm>
#include <functional>

#include "cost/shape_rules.h"

namespace onnxar::shape_rules {
namespace {

using Result = std::optional<std::int64_t>;
/// Empty if the result is not known: an overflow, or a type on which it depends.
using Operation = std::function<Result(std::int64_t, std::int64_t)>;

/// Applies the operation to vectors of one length, or to a vector and one number.
std::optional<Integers> applied(const Integers& a, const Integers& b, const Operation& operation) {
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
  Integers results;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const Result result = operation(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    if (!result) return std::nullopt;
    results.push_back(*result);
  }
  return results;
}

/// Whether a value of this rank holds its integers in one row.
bool is_row(const std::optional<Shape>& shape) { return shape && shape->size() <= 1; }

Rule on_integers(Operation operation) {
  return [operation = std::move(operation)](const Call& call) {
    const auto& a = call.shape(0);
    const auto& b = call.shape(1);
    KnownValue value{a && b ? broadcast(*a, *b) : std::nullopt, std::nullopt};
    const auto& first = call.input(0).integers;
    const auto& second = call.input(1).integers;
    const bool computable = first && second && is_row(a) && is_row(b) && !first->empty() && !second->empty();
    if (computable && call.inputs() == 2) value.integers = applied(*first, *second, operation);
    return Known{value};
  };
}

Result sum(std::int64_t a, std::int64_t b) { return (CheckedInt(a) + b).value(); }
Result difference(std::int64_t a, std::int64_t b) { return (CheckedInt(a) - b).value(); }
Result product(std::int64_t a, std::int64_t b) { return (CheckedInt(a) * b).value(); }

/// Integers are truncated and floats are not, and the type is not known here: only exact results are the same.
Result quotient(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1 || a % b != 0) return std::nullopt;
  return a / b;
}

/// Of numbers that are not negative, the result does not depend on `fmod`.
Result remainder(std::int64_t a, std::int64_t b) {
  if (a < 0 || b <= 0) return std::nullopt;
  return a % b;
}

Known negation(const Call& call) {
  KnownValue value = call.input(0);
  if (value.integers) {
    for (std::int64_t& each : *value.integers) each = each == 0 ? 1 : 0;
  }
  return {value};
}

Known where(const Call& call) {
  const auto& choice = call.input(0).integers;
  const auto& yes = call.input(1).integers;
  const auto& no = call.input(2).integers;
  const auto& first = call.shape(0);
  const auto& second = call.shape(1);
  const auto& third = call.shape(2);
  if (!first || !second || !third) return one(std::nullopt);
  const auto inner = broadcast(*second, *third);
  KnownValue value{inner ? broadcast(*first, *inner) : std::nullopt, std::nullopt};
  const bool computable = choice && yes && no && is_row(first) && is_row(second) && is_row(third);
  if (!computable || choice->size() != yes->size() || yes->size() != no->size()) return {value};
  value.integers = Integers();
  for (std::size_t i = 0; i < choice->size(); ++i) {
    value.integers->push_back((*choice)[i] != 0 ? (*yes)[i] : (*no)[i]);
  }
  return {value};
}

Known size(const Call& call) {
  const auto count = call.shape(0) ? elements(*call.shape(0)) : std::nullopt;
  KnownValue value{Shape{}, std::nullopt};
  if (count && std::in_range<std::int64_t>(*count)) value.integers = {static_cast<std::int64_t>(*count)};
  return {value};
}

Known range(const Call& call) {
  const auto number = [&call](int index) -> Result {
    const auto& values = call.input(index).integers;
    return values && values->size() == 1 ? Result(values->front()) : std::nullopt;
  };
  const auto start = number(0), limit = number(1), step = number(2);
  if (!start || !limit || !step || *step == 0) return one(Shape{unknown_dim});
  const auto distance = *step > 0 ? difference(*limit, *start) : difference(*start, *limit);
  if (!distance || *step < -largest_dim) return one(Shape{unknown_dim});
  const std::int64_t stride = *step > 0 ? *step : -*step;
  const std::int64_t count = *distance <= 0 ? 0 : (*distance - 1) / stride + 1;
  KnownValue value{Shape{count}, std::nullopt};
  if (count > static_cast<std::int64_t>(most_values)) return {value};
  value.integers = Integers();
  for (std::int64_t i = 0; i < count; ++i) value.integers->push_back(*start + i * *step);
  return {value};
}

/// By sizes or by scales that are integers, along all axes.
Known resize(const Call& call) {
  const auto& x = call.shape(0);
  const bool by_old_rule = !call.has(2) && !call.has(3);  // Upsample, and Resize of operator set 10
  const auto& scales = call.input(by_old_rule ? 1 : 2).integers;
  const auto& sizes = call.input(3).integers;
  const bool has_options =
      call.attributes().find("axes") != nullptr || !call.attributes().text("keep_aspect_ratio_policy").empty();
  if (!x || has_options) return one(x ? std::optional(Shape(x->size(), unknown_dim)) : std::nullopt);
  if (sizes && sizes->size() == x->size()) return one(shape_of(*sizes));
  if (!scales || scales->size() != x->size()) return one(Shape(x->size(), unknown_dim));
  Shape shape;
  for (std::size_t i = 0; i < x->size(); ++i) {
    const Result scaled = (*x)[i] < 0 || (*scales)[i] < 0 ? std::nullopt : product((*x)[i], (*scales)[i]);
    shape.push_back(scaled.value_or(unknown_dim));
  }
  return one(shape);
}

/// The quantised values, their scale and their zero point.
Known dynamic_quantization(const Call& call) {
  return {{call.shape(0), std::nullopt}, {Shape{}, std::nullopt}, {Shape{}, std::nullopt}};
}

}  // namespace

void add_arithmetic(Rules& rules) {
  rules.insert({{"DynamicQuantizeLinear", dynamic_quantization},
                {"Add", on_integers(sum)},
                {"Sub", on_integers(difference)},
                {"Mul", on_integers(product)},
                {"Div", on_integers(quotient)},
                {"Mod", on_integers(remainder)},
                {"Equal", on_integers([](auto a, auto b) { return Result(a == b ? 1 : 0); })},
                {"Greater", on_integers([](auto a, auto b) { return Result(a > b ? 1 : 0); })},
                {"Less", on_integers([](auto a, auto b) { return Result(a < b ? 1 : 0); })},
                {"Not", negation},
                {"Where", where},
                {"Size", size},
                {"Range", range},
                {"Resize", resize},
                {"Upsample", resize}});
}

}  // namespace onnxar::shape_rules
