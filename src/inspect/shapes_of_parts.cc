// Infers the outputs that have the input's elements in another shape, part of them, or those of several inputs.
#include <algorithm>
#include <numeric>

#include "inspect/shape_rules.h"

namespace onnxar::shape_rules {
namespace {

/// Returns the values of a matrix of shape `x`, column by column: exporters transpose the pads of Pad.
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

/// Returns the size of the dimension that is left open by -1. A remainder is ignored: a model where there is one is
/// invalid, and any estimate will do.
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

Known concat(const Call& call) {
  std::optional<Shape> shape = call.shape(0);
  std::optional<Sizes> integers = Sizes();
  const auto axis = shape ? place(call.attributes().integer("axis", 0), shape->size()) : std::nullopt;
  for (int i = 0; i < call.inputs() && axis; ++i) {
    const auto& part = call.shape(i);
    if (!part || part->size() != shape->size()) return one(std::nullopt);
    // Exporters build shapes with Concat, so the values of vectors are tracked as well.
    const auto& values = call.input(i).integers;
    if (integers && values && part->size() == 1 && integers->size() <= most_values) {
      integers->insert(integers->end(), values->begin(), values->end());
    } else {
      integers.reset();
    }
    if (i == 0) continue;
    (*shape)[*axis] = (*shape)[*axis] + (*part)[*axis];
  }
  if (!axis) return one(std::nullopt);
  return {{shape, integers}};
}

/// Returns the size of a part, if all have the same size, except that the last ones may have less.
Size even_part(const Size& whole, std::int64_t parts, std::int64_t index) {
  if (!whole.number()) return whole.divided_exactly(parts);
  const std::int64_t each = *whole.number() / parts + (*whole.number() % parts == 0 ? 0 : 1);
  const Size rest = whole - Size(index) * each;
  return std::clamp<std::int64_t>(rest.number().value_or(0), 0, each);  // an overflow is beyond the end
}

Known split(const Call& call) {
  const auto& x = call.shape(0);
  const auto axis = x ? place(call.attributes().integer("axis", 0), x->size()) : std::nullopt;
  if (!axis) return {};
  const auto sizes = call.sizes("split", 1);
  Known outputs;
  const std::int64_t count = call.outputs();
  for (std::int64_t i = 0; i < count; ++i) {
    Shape shape = *x;
    shape[*axis] = even_part((*x)[*axis], count, i);
    if (sizes) shape[*axis] = i < std::ssize(*sizes) ? (*sizes)[static_cast<std::size_t>(i)] : Size();
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
  const auto chosen = numbers_of(call.input(1).integers);
  if (from && chosen && x->size() == 1) {
    Sizes picked;
    for (const std::int64_t index : *chosen) {
      const auto where = place(index, from->size());
      if (where) picked.push_back((*from)[*where]);
    }
    if (picked.size() == chosen->size()) value.integers = picked;
  }
  return {value};
}

struct Slicing {
  Sizes starts, ends;
  Integers axes, steps;
};

/// Empty if starts, ends, axes or steps are not known, or differ in number.
std::optional<Slicing> slicing_of(const Call& call, std::size_t rank) {
  const auto starts = call.sizes("starts", 1);
  const auto ends = call.sizes("ends", 2);
  if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
  const auto axes = call.integers("axes", 3);
  const auto steps = call.integers("steps", 4);
  if ((call.has(3) && !axes) || (call.has(4) && !steps)) return std::nullopt;
  Slicing slicing{*starts, *ends, axes.value_or(Integers()), steps.value_or(Integers(starts->size(), 1))};
  if (slicing.axes.empty()) {  // the first axes, one for each start
    slicing.axes.resize(std::min(starts->size(), rank));
    std::iota(slicing.axes.begin(), slicing.axes.end(), 0);
  }
  if (slicing.axes.size() != starts->size() || slicing.steps.size() != starts->size()) return std::nullopt;
  return slicing;
}

/// The elements that a slice takes along one axis.
struct Taken {
  Size start = 0, count = 0;
  std::int64_t step = 1;
};

/// `size` is the number of elements along the axis. Empty if a number is too large for the computation below.
std::optional<Taken> taken(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t size) {
  if (step == 0 || size < 0 || size > largest_dim || step < -largest_dim || step > largest_dim) return std::nullopt;
  const std::int64_t low = step > 0 ? 0 : -1;
  const std::int64_t high = step > 0 ? size : size - 1;
  // With a negative step, an end below -size means "up to and including the first element".
  const auto bound = [&](std::int64_t at) {
    return std::clamp(at < 0 ? std::max(at, -largest_dim) + size : at, low, high);
  };
  const std::int64_t distance = step > 0 ? bound(end) - bound(start) : bound(start) - bound(end);
  const std::int64_t stride = step > 0 ? step : -step;
  return Taken{bound(start), std::max<std::int64_t>(0, (distance + stride - 1) / stride), step};
}

/// Exporters write numbers beyond this one for "to the end": 10^9, 2^31 - 1, 2^63 - 1.
constexpr std::int64_t longest_slice = 1 << 16;

/// Returns a bound of a slice, counted from the first element and clamped to `size`. Ranges of sizes are narrowed so
/// that a polynomial needs no clamp. Unknown if that is not possible.
Size clamped(const Size& at, const Size& size, OpenDimensions& open) {
  const std::int64_t number = at.number().value_or(0);
  if (number < 0) return open.narrow_to(size + number, 0) ? size + number : Size();
  if (number > longest_slice) return open.narrow_to(Size(number) - size, 0) ? size : Size();
  return open.narrow_to(at, 0) && open.narrow_to(size - at, 0) ? at : Size();
}

/// Does the same if at least one of the numbers is a polynomial.
std::optional<Taken> open_taken(const Size& start, const Size& end, std::int64_t step, const Size& size,
                                OpenDimensions& open) {
  if (step != 1) return std::nullopt;
  const Size from = clamped(start, size, open);
  const Size to = clamped(end, size, open);
  return Taken{from, to - from, step};
}

std::optional<Taken> taken_along(const Slicing& slicing, std::size_t i, const Size& size, OpenDimensions& open) {
  const auto start = slicing.starts[i].number(), end = slicing.ends[i].number(), all = size.number();
  if (start && end && all) return taken(*start, *end, slicing.steps[i], *all);
  return open_taken(slicing.starts[i], slicing.ends[i], slicing.steps[i], size, open);
}

/// Returns the values of the rows that are taken of all `rows`. Empty if the values are not that many rows.
std::optional<Sizes> picked_rows(const Sizes& from, const Taken& taken, std::int64_t rows) {
  const auto start = taken.start.number(), count = taken.count.number();
  if (!start || !count || rows <= 0 || std::ssize(from) % rows != 0) return std::nullopt;
  const std::int64_t width = std::ssize(from) / rows;
  Sizes values;
  for (std::int64_t i = 0; i < *count; ++i) {
    const auto row = from.begin() + (*start + i * taken.step) * width;
    values.insert(values.end(), row, row + width);
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
    const Size size = (*shape)[*axis];
    const auto part = taken_along(*slicing, i, size, call.open());
    (*value.shape)[*axis] = part ? part->count : Size();
    const auto& from = call.input(0).integers;
    // The values are tracked, because exporters slice shapes, and reverse the rows of pads.
    if (from && part && *axis == 0 && slicing->axes.size() == 1)
      value.integers = picked_rows(*from, *part, size.number().value_or(0));
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
  const auto pads = call.sizes("pads", 1);
  // Input 3, axes, is rare and not supported: the shape is then unknown.
  if (!shape || !pads || call.has(3) || pads->size() != 2 * shape->size()) return one(std::nullopt);
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const Size padded = (*shape)[i] + (*pads)[i] + (*pads)[i + shape->size()];
    (*shape)[i] = padded.number() ? std::max<std::int64_t>(0, *padded.number()) : padded;
  }
  return one(shape);
}

}  // namespace

void add_parts(Rules& rules) {
  rules.insert({{"Transpose", transpose},
                {"Reshape", reshape},
                {"Flatten", flatten},
                {"Squeeze", squeeze},
                {"Unsqueeze", unsqueeze}});
  rules.insert({{"Concat", concat}, {"Split", split}, {"Gather", gather}, {"Slice", slice}, {"Pad", pad}});
  for (const std::string_view op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                                    "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    rules.emplace(op, reduce);
  }
}

}  // namespace onnxar::shape_rules
