// Operators whose output has the input's elements in a different shape.
#include <algorithm>
#include <numeric>

#include "cost/shape_rules.h"

namespace onnxar::shape_rules {
namespace {

/// The values of a matrix of shape `x`, column by column: exporters transpose the pads of Pad.
std::optional<Integers> transposed(const std::optional<Integers>& values, const Shape& x) {
  const auto count = elements(x);
  if (!values || values->empty() || !count || values->size() != *count) return std::nullopt;
  Integers columns;
  for (std::int64_t column = 0; column < x[1]; ++column) {
    for (std::int64_t row = 0; row < x[0]; ++row) {
      columns.push_back((*values)[static_cast<std::size_t>(row * x[1] + column)]);
    }
  }
  return columns;
}

Known transpose(const Call& call) {
  const auto& x = call.shape(0);
  if (!x) return one(std::nullopt);
  Integers order = call.attributes().integers("perm").value_or(Integers());
  if (order.empty()) {
    order.resize(x->size());  // without `perm` the axes are reversed
    std::iota(order.rbegin(), order.rend(), 0);
  }
  Shape shape;
  for (const std::int64_t axis : order) {
    const auto from = place(axis, x->size());
    if (!from) return one(std::nullopt);
    shape.push_back((*x)[*from]);
  }
  return {{shape, order == Integers{1, 0} ? transposed(call.input(0).integers, *x) : std::nullopt}};
}

Known reshape(const Call& call) {
  const auto wanted = call.integers("shape", 1);
  if (!wanted) return one(std::nullopt);
  const auto& x = call.shape(0);
  if (wanted->size() > most_values) return one(std::nullopt);
  Shape shape = *wanted;
  // A 0 copies the input's dimension, unless `allowzero` makes it an empty one.
  const bool zero_is_zero = call.attributes().integer("allowzero", 0) != 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) shape[i] = x && i < x->size() ? (*x)[i] : unknown_dim;
  }
  // A dimension of -1 is inferred from the number of elements. The division needs no check of the remainder: a model
  // where it is not 0 is invalid, and any estimate will do.
  const auto open = std::ranges::find(*wanted, -1);
  const auto total = x ? elements(*x) : std::nullopt;
  if (open != wanted->end() && total) {
    Shape others = shape;
    others[static_cast<std::size_t>(open - wanted->begin())] = 1;
    const auto rest = elements(others);
    if (rest && *rest != 0) {
      shape[static_cast<std::size_t>(open - wanted->begin())] = static_cast<std::int64_t>(*total / *rest);
    }
  }
  return {{shape_of(shape), call.input(0).integers}};
}

Known flatten(const Call& call) {
  const auto& x = call.shape(0);
  if (!x) return one(std::nullopt);
  const std::int64_t axis = call.attributes().integer("axis", 1);
  const auto size = static_cast<std::int64_t>(x->size());
  if (axis < -size || axis > size) return one(std::nullopt);
  const auto cut = x->begin() + (axis < 0 ? axis + size : axis);
  const auto side = [](const Shape& dims) {
    const auto count = elements(dims);
    return count ? static_cast<std::int64_t>(*count) : unknown_dim;
  };
  return one(Shape{side({x->begin(), cut}), side({cut, x->end()})});
}

Known squeeze(const Call& call) {
  const auto& x = call.shape(0);
  const auto axes = call.integers("axes", 1);
  if (!x || (!axes && call.has(1))) return one(std::nullopt);
  std::vector<bool> gone(x->size());
  // Without axes, every dimension of 1 is removed.
  for (std::size_t i = 0; !axes && i < x->size(); ++i) gone[i] = (*x)[i] == 1;
  for (const std::int64_t axis : axes.value_or(Integers())) {
    const auto at = place(axis, x->size());
    if (at) gone[*at] = true;
  }
  Shape shape;
  for (std::size_t i = 0; i < x->size(); ++i) {
    if (!gone[i]) shape.push_back((*x)[i]);
  }
  return {{shape, call.input(0).integers}};
}

Known unsqueeze(const Call& call) {
  const auto& x = call.shape(0);
  const auto axes = call.integers("axes", 1);
  if (!x || !axes || x->size() + axes->size() > most_values) return one(std::nullopt);
  std::vector<bool> added(x->size() + axes->size());
  for (const std::int64_t axis : *axes) {
    const auto at = place(axis, added.size());
    if (at) added[*at] = true;
  }
  if (std::ranges::count(added, true) != std::ssize(*axes)) return one(std::nullopt);  // out of range, or repeated
  Shape shape;
  auto next = x->begin();
  for (const bool is_new : added) shape.push_back(is_new ? 1 : *next++);
  return {{shape, call.input(0).integers}};
}

}  // namespace

void add_rearrangements(Rules& rules) {
  rules.insert({{"Transpose", transpose},
                {"Reshape", reshape},
                {"Flatten", flatten},
                {"Squeeze", squeeze},
                {"Unsqueeze", unsqueeze}});
}

}  // namespace onnxar::shape_rules
