// Operators whose output follows from a shape or from constants, and values that are shapes themselves.
#include <algorithm>

#include "inspect/shape_rules.h"
#include "model/messages.h"

namespace onnxar::shape_rules {
namespace {

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

void add_constants(Rules& rules) {
  rules.insert(
      {{"Shape", shape_value}, {"Constant", constant}, {"ConstantOfShape", constant_of_shape}, {"Expand", expand}});
}

}  // namespace onnxar::shape_rules
