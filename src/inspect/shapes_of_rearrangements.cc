// Operators whose output has the input's elements in a different shape.
#include <algorithm>
#include <numeric>

#include "inspect/shape_rules.h"

namespace onnxar::shape_rules {
namespace {

/// The values of a matrix of shape `x`, column by column: exporters transpose the pads of Pad.
std::optional<Sizes> transposed(const std::optional<Sizes>& values, const Shape& x) {
  const auto width = x[1].number();
  const auto count = elements(x).number();
  if (!values || values->empty() || !width || count != std::ssize(*values)) return std::nullopt;
  Sizes columns;
  for (std::int64_t column = 0; column < *width; ++column) {
    for (std::int64_t at = column; at < *count; at += *width)
      columns.push_back((*values)[static_cast<std::size_t>(at)]);
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

/// The size of the dimension that is left open by -1. A remainder is ignored: a model where there is one is invalid,
/// and any estimate will do.
Size inferred_dim(const Size& total, const Size& others) {
  if (others == 0) return {};
  if (total.number() && others.number()) return *total.number() / *others.number();
  return total.divided_exactly(others);
}

Known reshape(const Call& call) {
  const auto wanted = call.sizes("shape", 1);
  if (!wanted) return one(std::nullopt);
  const auto& x = call.shape(0);
  if (wanted->size() > most_values) return one(std::nullopt);
  Shape shape = *wanted;
  // A 0 copies the input's dimension, unless `allowzero` makes it an empty one.
  const bool zero_is_zero = call.attributes().integer("allowzero", 0) != 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) shape[i] = x && i < x->size() ? (*x)[i] : Size();
  }
  const auto open = std::ranges::find(*wanted, Size(-1));
  if (open != wanted->end()) {
    Size& dim = shape[static_cast<std::size_t>(open - wanted->begin())];
    dim = 1;
    dim = x ? inferred_dim(elements(*x), elements(shape)) : Size();
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
  return one(Shape{elements({x->begin(), cut}), elements({cut, x->end()})});
}

Known squeeze(const Call& call) {
  const auto& x = call.shape(0);
  const auto axes = call.integers("axes", 1);
  if (!x || (!axes && call.has(1))) return one(std::nullopt);
  std::vector<bool> gone(x->size());
  // Without axes, every dimension of 1 is removed. A polynomial must not become 1.
  for (std::size_t i = 0; !axes && i < x->size(); ++i) {
    gone[i] = (*x)[i] == 1;
    if ((*x)[i].is_open() && !call.open().narrow_to((*x)[i], 2)) return one(std::nullopt);
  }
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
