// The same elements in another shape, parts of them, and values that are shapes themselves.
#include <algorithm>
#include <numeric>

#include "graph/shape_rules.h"

namespace onnxar::shape_rules {
namespace {

// --- Other shapes for the same elements ------------------------------------------------------------------------------

Known transpose(const Call& call) {
  const auto& x = call.shape(0);
  if (!x) return one(std::nullopt);
  Integers order = call.attributes().integers("perm").value_or(Integers());
  if (order.empty()) {
    order.resize(x->size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  Shape shape;
  for (const std::int64_t axis : order) {
    const auto from = place(axis, x->size());
    if (!from) return one(std::nullopt);
    shape.push_back((*x)[*from]);
  }
  return one(shape);
}

Known reshape(const Call& call) {
  const auto wanted = call.integers("shape", 1);
  if (!wanted) return one(std::nullopt);
  const auto& x = call.shape(0);
  if (wanted->size() > most_values) return one(std::nullopt);
  Shape shape = *wanted;
  const bool zero_is_zero = call.attributes().integer("allowzero", 0) != 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) shape[i] = x && i < x->size() ? (*x)[i] : unknown_dim;
  }
  // One -1 is what is left for it.
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
  if (std::ranges::count(added, true) != std::ssize(*axes)) return one(std::nullopt);
  Shape shape;
  auto next = x->begin();
  for (const bool is_new : added) shape.push_back(is_new ? 1 : *next++);
  return {{shape, call.input(0).integers}};
}

// --- Parts -----------------------------------------------------------------------------------------------------------

Known concat(const Call& call) {
  std::optional<Shape> shape = call.shape(0);
  std::optional<Integers> integers = Integers();
  const auto axis = shape ? place(call.attributes().integer("axis", 0), shape->size()) : std::nullopt;
  for (int i = 0; i < call.inputs() && axis; ++i) {
    const auto& part = call.shape(i);
    if (!part || part->size() != shape->size()) return one(std::nullopt);
    const auto& values = call.input(i).integers;
    if (integers && values && part->size() == 1 && integers->size() <= most_values) {
      integers->insert(integers->end(), values->begin(), values->end());
    } else {
      integers.reset();
    }
    if (i == 0) continue;
    std::int64_t& sum = (*shape)[*axis];
    const bool is_open = sum < 0 || (*part)[*axis] < 0;
    sum = is_open ? unknown_dim : (CheckedInt(sum) + (*part)[*axis]).value_or(unknown_dim);
  }
  if (!axis) return one(std::nullopt);
  return {{shape, integers}};
}

Known split(const Call& call) {
  const auto& x = call.shape(0);
  const auto axis = x ? place(call.attributes().integer("axis", 0), x->size()) : std::nullopt;
  if (!axis) return {};
  const auto sizes = call.integers("split", 1);
  Known outputs;
  const std::int64_t count = call.outputs();
  const std::int64_t whole = (*x)[*axis];
  for (std::int64_t i = 0; i < count; ++i) {
    Shape shape = *x;
    const std::int64_t each = whole < 0 ? unknown_dim : whole / count + (whole % count == 0 ? 0 : 1);
    const std::int64_t rest = (whole - CheckedInt(i) * each).value_or(0);  // beyond 64 bits is beyond the end
    shape[*axis] = each < 0 ? unknown_dim : std::clamp<std::int64_t>(rest, 0, each);
    if (sizes) shape[*axis] = i < std::ssize(*sizes) ? (*sizes)[static_cast<std::size_t>(i)] : unknown_dim;
    outputs.push_back({shape, std::nullopt});
  }
  return outputs;
}

Known gather(const Call& call) {
  const auto& x = call.shape(0);
  const auto& indices = call.shape(1);
  const auto axis = x ? place(call.attributes().integer("axis", 0), x->size()) : std::nullopt;
  if (!axis || !indices) return one(std::nullopt);
  const auto at = x->begin() + static_cast<std::ptrdiff_t>(*axis);
  Shape shape(x->begin(), at);
  shape.insert(shape.end(), indices->begin(), indices->end());
  shape.insert(shape.end(), at + 1, x->end());
  KnownValue value{shape, std::nullopt};
  const auto& from = call.input(0).integers;
  const auto& chosen = call.input(1).integers;
  if (from && chosen && x->size() == 1) {
    Integers picked;
    for (const std::int64_t index : *chosen) {
      const auto where = place(index, from->size());
      if (where) picked.push_back((*from)[*where]);
    }
    if (picked.size() == chosen->size()) value.integers = picked;
  }
  return {value};
}

struct Slicing {
  Integers starts, ends, axes, steps;
};

std::optional<Slicing> slicing_of(const Call& call, std::size_t rank) {
  const auto starts = call.integers("starts", 1);
  const auto ends = call.integers("ends", 2);
  if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
  if ((call.has(3) && !call.input(3).integers) || (call.has(4) && !call.input(4).integers)) return std::nullopt;
  Slicing slicing{*starts, *ends, call.integers("axes", 3).value_or(Integers()),
                  call.integers("steps", 4).value_or(Integers(starts->size(), 1))};
  if (slicing.axes.empty()) {
    slicing.axes.resize(std::min(starts->size(), rank));
    std::iota(slicing.axes.begin(), slicing.axes.end(), 0);
  }
  if (slicing.axes.size() != starts->size() || slicing.steps.size() != starts->size()) return std::nullopt;
  return slicing;
}

/// The elements that a slice takes along an axis.
struct Taken {
  std::int64_t start = 0, count = 0, step = 1;
};

/// Of `size` elements; nothing where the numbers are beyond reason.
std::optional<Taken> taken(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t size) {
  if (step == 0 || size < 0 || size > largest_dim || step < -largest_dim || step > largest_dim) return std::nullopt;
  const std::int64_t low = step > 0 ? 0 : -1;
  const std::int64_t high = step > 0 ? size : size - 1;
  // From the end downwards an end before the first element is written as a number below -size.
  const auto bound = [&](std::int64_t at) {
    return std::clamp(at < 0 ? std::max(at, -largest_dim) + size : at, low, high);
  };
  const std::int64_t distance = step > 0 ? bound(end) - bound(start) : bound(start) - bound(end);
  const std::int64_t stride = step > 0 ? step : -step;
  return Taken{bound(start), std::max<std::int64_t>(0, (distance + stride - 1) / stride), step};
}

Integers picked(const Integers& from, const Taken& taken) {
  Integers values;
  for (std::int64_t i = 0; i < taken.count; ++i) {
    values.push_back(from[static_cast<std::size_t>(taken.start + i * taken.step)]);
  }
  return values;
}

Known slice(const Call& call) {
  std::optional<Shape> shape = call.shape(0);
  const auto slicing = shape ? slicing_of(call, shape->size()) : std::nullopt;
  if (!slicing) return one(std::nullopt);
  KnownValue value{shape, std::nullopt};
  for (std::size_t i = 0; i < slicing->axes.size(); ++i) {
    const auto axis = place(slicing->axes[i], shape->size());
    if (!axis) return one(std::nullopt);
    const std::int64_t size = (*shape)[*axis];
    const auto part = taken(slicing->starts[i], slicing->ends[i], slicing->steps[i], size);
    (*value.shape)[*axis] = part ? part->count : unknown_dim;
    const auto& from = call.input(0).integers;
    const bool is_vector = shape->size() == 1 && slicing->axes.size() == 1;
    if (from && part && is_vector && std::ssize(*from) == size) value.integers = picked(*from, *part);
  }
  return {value};
}

Known reduce(const Call& call) {
  const auto& x = call.shape(0);
  const auto axes = call.integers("axes", 1);
  if (!x || (!axes && call.has(1))) return one(std::nullopt);
  const bool keep = call.attributes().integer("keepdims", 1) != 0;
  const bool all = !axes || axes->empty();
  if (all && call.attributes().integer("noop_with_empty_axes", 0) != 0) return one(x);
  std::vector<bool> gone(x->size(), all);
  for (const std::int64_t axis : axes.value_or(Integers())) {
    const auto at = place(axis, x->size());
    if (at) gone[*at] = true;
  }
  Shape shape;
  for (std::size_t i = 0; i < x->size(); ++i) {
    if (!gone[i] || keep) shape.push_back(gone[i] ? 1 : (*x)[i]);
  }
  return one(shape);
}

Known pad(const Call& call) {
  std::optional<Shape> shape = call.shape(0);
  const auto pads = call.integers("pads", 1);
  if (!shape || !pads || call.has(3) || pads->size() != 2 * shape->size()) return one(std::nullopt);
  for (std::size_t i = 0; i < shape->size(); ++i) {
    std::int64_t& dim = (*shape)[i];
    const auto padded = (CheckedInt(dim) + (*pads)[i] + (*pads)[i + shape->size()]).value();
    dim = dim < 0 || !padded ? unknown_dim : std::max<std::int64_t>(0, *padded);
  }
  return one(shape);
}

// --- Values that are shapes ------------------------------------------------------------------------------------------

Known shape_value(const Call& call) {
  const auto& x = call.shape(0);
  if (!x) return one(std::nullopt);
  const auto size = static_cast<std::int64_t>(x->size());
  const auto bound = [size](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
  const std::int64_t start = bound(std::clamp(call.attributes().integer("start", 0), -largest_dim, largest_dim));
  const std::int64_t end = bound(std::clamp(call.attributes().integer("end", size), -largest_dim, largest_dim));
  const Integers dims(x->begin() + start, x->begin() + std::max(start, end));
  KnownValue value{Shape{std::ssize(dims)}, dims};
  if (std::ranges::find(dims, unknown_dim) != dims.end()) value.integers.reset();
  return {value};
}

Known constant(const Call& call) {
  const auto* value = call.attributes().find("value");
  if (value != nullptr && value->has_t()) {
    const auto& dims = value->t().dims();
    return {{shape_of({dims.data(), static_cast<std::size_t>(dims.size())}), small_integers(value->t())}};
  }
  if (const auto integers = call.attributes().integers("value_ints")) return {{Shape{std::ssize(*integers)}, integers}};
  const auto* integer = call.attributes().find("value_int");
  if (integer != nullptr) return {{Shape{}, Integers{integer->i()}}};
  const auto* floats = call.attributes().find("value_floats");
  if (floats != nullptr) return one(Shape{floats->floats_size()});
  return one(call.attributes().find("value_float") != nullptr ? std::optional(Shape{}) : std::nullopt);
}

Known constant_of_shape(const Call& call) {
  const auto& dims = call.input(0).integers;
  return one(dims ? shape_of(*dims) : std::nullopt);
}

Known expand(const Call& call) {
  const auto& wanted = call.input(1).integers;
  return one(call.shape(0) && wanted ? broadcast(*call.shape(0), *wanted) : std::nullopt);
}

}  // namespace

void add_rearrangements(Rules& rules) {
  rules.insert({{"Transpose", transpose},
                {"Reshape", reshape},
                {"Flatten", flatten},
                {"Squeeze", squeeze},
                {"Unsqueeze", unsqueeze},
                {"Concat", concat},
                {"Split", split},
                {"Gather", gather},
                {"Slice", slice},
                {"Pad", pad},
                {"Shape", shape_value},
                {"Constant", constant},
                {"ConstantOfShape", constant_of_shape},
                {"Expand", expand}});
  for (const std::string_view op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                                    "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    rules.emplace(op, reduce);
  }
}

}  // namespace onnxar::shape_rules
