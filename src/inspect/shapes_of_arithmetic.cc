// Infers the outputs of operators that compute shapes: constants, arithmetic on a few integers, and ranges.
#include <algorithm>
#include <functional>

#include "inspect/shape_rules.h"
#include "model/messages.h"

namespace onnxar::shape_rules {
namespace {

/// Returns unknown after an overflow, for a comparison of polynomials, and if the result depends on the type.
using Operation = std::function<Size(const Size&, const Size&, const OpenDimensions&)>;

/// Applies the operation to vectors of one length, or to a vector and one number.
std::optional<Sizes> applied(const Sizes& a, const Sizes& b, const Operation& operation, const OpenDimensions& open) {
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
  Sizes results;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    results.push_back(operation(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i], open));
  }
  return results;
}

/// True if a value of this rank holds its integers in one row.
bool is_row(const std::optional<Shape>& shape) { return shape && shape->size() <= 1; }

Rule on_integers(Operation operation) {
  return [operation = std::move(operation)](const Call& call) {
    const auto& a = call.shape(0);
    const auto& b = call.shape(1);
    KnownValue value{a && b ? broadcast(*a, *b) : std::nullopt, std::nullopt};
    const auto& first = call.input(0).integers;
    const auto& second = call.input(1).integers;
    const bool computable = first && second && is_row(a) && is_row(b) && !first->empty() && !second->empty();
    if (computable && call.inputs() == 2) value.integers = applied(*first, *second, operation, call.open());
    return Known{value};
  };
}

Size sum(const Size& a, const Size& b, const OpenDimensions&) { return a + b; }
Size difference(const Size& a, const Size& b, const OpenDimensions&) { return a - b; }
Size product(const Size& a, const Size& b, const OpenDimensions&) { return a * b; }

/// Integers are truncated and floats are not, and the type is not known here: only exact results are the same.
Size quotient(const Size& a, const Size& b, const OpenDimensions&) { return a.divided_exactly(b); }

/// If the numbers are not negative, the result does not depend on `fmod`.
Size remainder(const Size& a, const Size& b, const OpenDimensions&) {
  if (a.number().value_or(-1) < 0 || b.number().value_or(0) <= 0) return {};
  return *a.number() % *b.number();
}

Size is_greater(const Size& a, const Size& b, const OpenDimensions& open) {
  if (a.number() && b.number()) return *a.number() > *b.number() ? 1 : 0;
  if (open.is_at_least(a - b, 1)) return 1;
  return open.is_at_least(b - a, 0) ? Size(0) : Size();
}

Size is_less(const Size& a, const Size& b, const OpenDimensions& open) { return is_greater(b, a, open); }

Size is_equal(const Size& a, const Size& b, const OpenDimensions& open) {
  if (a == b) return 1;
  const bool differ = (a.number() && b.number()) || open.is_at_least(a - b, 1) || open.is_at_least(b - a, 1);
  return differ ? Size(0) : Size();
}

Known negation(const Call& call) {
  KnownValue value = call.input(0);
  if (value.integers) {
    for (Size& each : *value.integers) each = each.is_open() ? Size() : Size(each == 0 ? 1 : 0);
  }
  return {value};
}

Known where(const Call& call) {
  const auto choice = numbers_of(call.input(0).integers);
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
  value.integers = Sizes();
  for (std::size_t i = 0; i < choice->size(); ++i) {
    value.integers->push_back((*choice)[i] != 0 ? (*yes)[i] : (*no)[i]);
  }
  return {value};
}

Known size(const Call& call) {
  const Size count = call.shape(0) ? elements(*call.shape(0)) : Size();
  return {{Shape{}, count.is_known() ? std::optional(Sizes{count}) : std::nullopt}};
}

/// Returns the one integer of an input.
Size integer(const Call& call, int index) {
  const auto& values = call.input(index).integers;
  return values && values->size() == 1 ? values->front() : Size();
}

Known range(const Call& call) {
  const Size start = integer(call, 0), limit = integer(call, 1), step = integer(call, 2);
  const std::int64_t by = step.number().value_or(0);
  if (by == 0 || by < -largest_dim) return one(Shape{Size()});
  const Size distance = by > 0 ? limit - start : start - limit;
  const std::int64_t stride = by > 0 ? by : -by;
  if (!distance.number()) return one(Shape{(distance + (stride - 1)).divided_down(stride)});
  const std::int64_t count = *distance.number() <= 0 ? 0 : (*distance.number() - 1) / stride + 1;
  KnownValue value{Shape{count}, std::nullopt};
  if (count > static_cast<std::int64_t>(most_values)) return {value};
  value.integers = Sizes();
  for (std::int64_t i = 0; i < count; ++i) value.integers->push_back(start + Size(i) * step);
  return {value};
}

/// Scales by sizes, or by factors that are integers, along all axes.
Known resize(const Call& call) {
  const auto& x = call.shape(0);
  const bool by_old_rule = !call.has(2) && !call.has(3);  // Upsample, and Resize of operator set 10
  const auto scales = numbers_of(call.input(by_old_rule ? 1 : 2).integers);
  const auto& sizes = call.input(3).integers;
  const bool has_options =
      call.attributes().find("axes") != nullptr || !call.attributes().text("keep_aspect_ratio_policy").empty();
  if (!x || has_options) return one(x ? std::optional(Shape(x->size())) : std::nullopt);
  if (sizes && sizes->size() == x->size()) return one(shape_of(*sizes));
  if (!scales || scales->size() != x->size()) return one(Shape(x->size()));
  Shape shape;
  for (std::size_t i = 0; i < x->size(); ++i) shape.push_back((*scales)[i] < 0 ? Size() : (*x)[i] * (*scales)[i]);
  return one(shape);
}

/// Returns the quantised values, their scale and their zero point.
Known dynamic_quantization(const Call& call) {
  return {{call.shape(0), std::nullopt}, {Shape{}, std::nullopt}, {Shape{}, std::nullopt}};
}

Known shape_value(const Call& call) {
  const auto& x = call.shape(0);
  if (!x) return one(std::nullopt);
  const auto size = static_cast<std::int64_t>(x->size());
  const auto bound = [size](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
  // Clamped twice: first so that the sum with the rank cannot overflow, then to the shape.
  const std::int64_t start = bound(std::clamp(call.attributes().integer("start", 0), -largest_dim, largest_dim));
  const std::int64_t end = bound(std::clamp(call.attributes().integer("end", size), -largest_dim, largest_dim));
  const Shape dims(x->begin() + start, x->begin() + std::max(start, end));
  return {{Shape{std::ssize(dims)}, dims}};
}

Known constant(const Call& call) {
  const auto* value = call.attributes().find("value");
  if (value != nullptr && value->has_t()) {
    return {{shape_of(dims_of(value->t())), small_integers(value->t())}};
  }
  // Since operator set 12 a constant may be a plain attribute, without a tensor around it.
  if (const auto integers = call.attributes().integers("value_ints")) {
    return {{Shape{std::ssize(*integers)}, Sizes(integers->begin(), integers->end())}};
  }
  const auto* integer = call.attributes().find("value_int");
  if (integer != nullptr) return {{Shape{}, Sizes{integer->i()}}};
  const auto* floats = call.attributes().find("value_floats");
  if (floats != nullptr) return one(Shape{floats->floats_size()});
  return one(call.attributes().find("value_float") != nullptr ? std::optional(Shape{}) : std::nullopt);
}

Known constant_of_shape(const Call& call) {
  const auto& dims = call.input(0).integers;
  KnownValue value{dims ? shape_of(*dims) : std::nullopt, std::nullopt};
  const auto* attribute = call.attributes().find("value");
  const auto number = attribute == nullptr ? Sizes{0} : small_integers(attribute->t()).value_or(Sizes());
  const std::int64_t none = -1;
  const std::int64_t count = value.shape ? elements(*value.shape).number().value_or(none) : none;
  if (number.size() == 1 && count >= 0 && count <= std::int64_t{most_values}) {
    value.integers = Sizes(static_cast<std::size_t>(count), number.front());
  }
  return {value};
}

Known expand(const Call& call) {
  const auto& wanted = call.input(1).integers;
  const auto shape = wanted ? shape_of(*wanted) : std::nullopt;
  return one(call.shape(0) && shape ? broadcast(*call.shape(0), *shape) : std::nullopt);
}

}  // namespace

void add_arithmetic(Rules& rules) {
  rules.insert({{"Shape", shape_value},
                {"Constant", constant},
                {"ConstantOfShape", constant_of_shape},
                {"Expand", expand},
                {"DynamicQuantizeLinear", dynamic_quantization},
                {"Add", on_integers(sum)},
                {"Sub", on_integers(difference)},
                {"Mul", on_integers(product)},
                {"Div", on_integers(quotient)},
                {"Mod", on_integers(remainder)},
                {"Equal", on_integers(is_equal)},
                {"Greater", on_integers(is_greater)},
                {"Less", on_integers(is_less)},
                {"Not", negation},
                {"Where", where},
                {"Size", size},
                {"Range", range},
                {"Resize", resize},
                {"Upsample", resize}});
}

}  // namespace onnxar::shape_rules
