// How shapes follow from shapes, operator by operator (onnx/docs/Operators.md).
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "model/shapes.h"

namespace onnxar {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::int64_t largest_dim = 1LL << 30U;  // of those that are reckoned with: no sum of two products wraps
constexpr std::size_t most_values = 1024;         // dimensions of a shape, integers of a small tensor

/// A node with what is known of its inputs.
class Call {
 public:
  Call(const schema::NodeProto& node, const Attributes& attributes, const Values& values)
      : node_(node), attributes_(attributes), values_(values) {}

  [[nodiscard]] const KnownValue& input(int index) const {
    static const KnownValue nothing;
    return index < node_.input_size() ? values_.at(node_.input(index)) : nothing;
  }
  [[nodiscard]] const std::optional<Shape>& shape(int index) const { return input(index).shape; }
  [[nodiscard]] bool has(int index) const { return index < node_.input_size() && !node_.input(index).empty(); }
  [[nodiscard]] int inputs() const { return node_.input_size(); }
  [[nodiscard]] int outputs() const { return node_.output_size(); }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }

  /// Axes and the like: an attribute once, an input today.
  [[nodiscard]] std::optional<Integers> integers(std::string_view attribute, int index) const {
    if (auto values = attributes_.integers(attribute)) return values;
    return has(index) ? input(index).integers : std::nullopt;
  }

 private:
  const schema::NodeProto& node_;
  const Attributes& attributes_;
  const Values& values_;
};

using Known = std::vector<KnownValue>;
using Rule = std::function<Known(const Call&)>;

Known one(std::optional<Shape> shape) { return {{std::move(shape), std::nullopt}}; }

/// The place of an axis that may count from the end; nothing where it is none.
std::optional<std::size_t> place(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

bool is_sane(const Shape& shape) {
  return std::ranges::all_of(shape, [](std::int64_t dim) { return dim <= largest_dim; });
}

// --- Element by element ----------------------------------------------------------------------------------------------

Known same(const Call& call) { return {call.input(0)}; }

Known same_shape(const Call& call) { return one(call.shape(0)); }

Known broadcast_all(const Call& call) {
  std::optional<Shape> shape = call.shape(0);
  for (int i = 1; i < call.inputs() && shape; ++i) {
    shape = call.shape(i) ? broadcast(*shape, *call.shape(i)) : std::nullopt;
  }
  return one(shape);
}

// --- Windows ---------------------------------------------------------------------------------------------------------

/// A window that slides along one dimension.
struct Window {
  std::int64_t kernel = 1, stride = 1, dilation = 1, pads = 0;
};

std::int64_t positions(std::int64_t size, const Window& window, std::string_view auto_pad, bool ceil) {
  if (size < 0 || window.stride < 1) return unknown_dim;
  if (auto_pad.starts_with("SAME")) return (size + window.stride - 1) / window.stride;
  const std::int64_t extent = window.dilation * (window.kernel - 1) + 1;
  const std::int64_t room = size + (auto_pad == "VALID" ? 0 : window.pads) - extent;
  if (room < 0) return 0;
  return (room + (ceil ? window.stride - 1 : 0)) / window.stride + 1;
}

Window window_at(const Call& call, const Shape& kernel, std::size_t axis) {
  const std::size_t rank = kernel.size();
  const auto value = [&](std::string_view name, std::size_t index, std::int64_t otherwise) {
    const auto values = call.attributes().integers(name);
    return values && index < values->size() ? std::clamp<std::int64_t>((*values)[index], -largest_dim, largest_dim)
                                            : otherwise;
  };
  return {std::clamp(kernel[axis], -largest_dim, largest_dim), value("strides", axis, 1), value("dilations", axis, 1),
          value("pads", axis, 0) + value("pads", axis + rank, 0)};
}

/// The shape of a convolution or pooling of `input` to `channels`.
std::optional<Shape> slid(const Call& call, const Shape& input, const Shape& kernel, std::int64_t channels) {
  if (input.size() != kernel.size() + 2 || !is_sane(input)) return std::nullopt;
  Shape shape = {input[0], channels};
  const bool ceil = call.attributes().integer("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    shape.push_back(positions(input[i + 2], window_at(call, kernel, i), call.attributes().text("auto_pad"), ceil));
  }
  return shape;
}

/// `weights`: which input holds them, of shape [M, C/group, kernel...].
Rule convolution(int weights) {
  return [weights](const Call& call) {
    const auto& x = call.shape(0);
    const auto& w = call.shape(weights);
    if (!x || !w || w->size() < 2) return one(std::nullopt);
    return one(slid(call, *x, Shape(w->begin() + 2, w->end()), (*w)[0]));
  };
}

Known pooling(const Call& call) {
  const auto& x = call.shape(0);
  const auto kernel = call.attributes().integers("kernel_shape");
  if (!x || !kernel || x->size() < 2) return one(std::nullopt);
  const auto shape = slid(call, *x, *kernel, (*x)[1]);
  return {{shape, std::nullopt}, {shape, std::nullopt}};
}

Known global_pooling(const Call& call) {
  std::optional<Shape> shape = call.shape(0);
  if (shape && shape->size() > 2) std::fill(shape->begin() + 2, shape->end(), 1);
  return one(shape);
}

Known transposed_convolution(const Call& call) {
  const auto& x = call.shape(0);
  const auto& w = call.shape(1);  // [C, M/group, kernel...]
  if (!x || !w || w->size() < 2 || x->size() != w->size() || !is_sane(*x) || !is_sane(*w)) return one(std::nullopt);
  const Shape kernel(w->begin() + 2, w->end());
  const auto stated = call.attributes().integers("output_shape");
  const auto extra = call.attributes().integers("output_padding");
  const bool is_same = call.attributes().text("auto_pad").starts_with("SAME");
  Shape shape = {(*x)[0], (*w)[1] * std::clamp<std::int64_t>(call.attributes().integer("group", 1), 1, largest_dim)};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const Window window = window_at(call, kernel, i);
    const std::int64_t size = (*x)[i + 2];
    const std::int64_t added = extra && i < extra->size() ? (*extra)[i] : 0;
    if (stated && i < stated->size()) {
      shape.push_back((*stated)[i]);
    } else if (size < 0) {
      shape.push_back(unknown_dim);
    } else if (is_same) {
      shape.push_back(size * window.stride);
    } else {
      const std::int64_t extent = (window.kernel - 1) * window.dilation + 1;
      shape.push_back(window.stride * (size - 1) + added + extent - window.pads);
    }
  }
  return one(shape);
}

// --- Products --------------------------------------------------------------------------------------------------------

std::optional<Shape> product(Shape a, Shape b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const bool is_row = a.size() == 1;
  const bool is_column = b.size() == 1;
  if (is_row) a.insert(a.begin(), 1);
  if (is_column) b.push_back(1);
  auto shape = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!shape) return std::nullopt;
  if (!is_row) shape->push_back(a[a.size() - 2]);
  if (!is_column) shape->push_back(b.back());
  return shape;
}

/// `b`: which input is the right one.
Rule matrix_product(int b) {
  return [b](const Call& call) {
    const auto& left = call.shape(0);
    const auto& right = call.shape(b);
    return one(left && right ? product(*left, *right) : std::nullopt);
  };
}

Known gemm(const Call& call) {
  const auto& a = call.shape(0);
  const auto& b = call.shape(1);
  if (!a || !b || a->size() != 2 || b->size() != 2) return one(std::nullopt);
  const bool turn_a = call.attributes().integer("transA", 0) != 0;
  const bool turn_b = call.attributes().integer("transB", 0) != 0;
  return one(Shape{(*a)[turn_a ? 1 : 0], (*b)[turn_b ? 0 : 1]});
}

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
  return {{shape, call.input(0).integers}};
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
    if (integers && values && part->size() == 1) {
      integers->insert(integers->end(), values->begin(), values->end());
    } else {
      integers.reset();
    }
    if (i == 0) continue;
    const bool is_open = (*shape)[*axis] < 0 || (*part)[*axis] < 0 || !is_sane(*part) || !is_sane(*shape);
    (*shape)[*axis] = is_open ? unknown_dim : (*shape)[*axis] + (*part)[*axis];
  }
  if (!axis) return one(std::nullopt);
  return {{shape, integers}};
}

Known split(const Call& call) {
  const auto& x = call.shape(0);
  const auto axis = x ? place(call.attributes().integer("axis", 0), x->size()) : std::nullopt;
  if (!axis || !is_sane(*x)) return {};
  const auto sizes = call.integers("split", 1);
  Known outputs;
  const std::int64_t count = call.outputs();
  const std::int64_t whole = (*x)[*axis];
  for (std::int64_t i = 0; i < count; ++i) {
    Shape shape = *x;
    const std::int64_t each = whole < 0 ? unknown_dim : (whole + count - 1) / count;
    shape[*axis] = each < 0 ? unknown_dim : std::clamp<std::int64_t>(whole - i * each, 0, each);
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

Known slice(const Call& call) {
  std::optional<Shape> shape = call.shape(0);
  const auto slicing = shape ? slicing_of(call, shape->size()) : std::nullopt;
  if (!slicing) return one(std::nullopt);
  KnownValue value{shape, std::nullopt};
  for (std::size_t i = 0; i < slicing->axes.size(); ++i) {
    const auto axis = place(slicing->axes[i], shape->size());
    const std::int64_t step = slicing->steps[i];
    if (!axis || step == 0) return one(std::nullopt);
    const std::int64_t size = (*shape)[*axis];
    if (size < 0 || size > largest_dim || step < -largest_dim || step > largest_dim) {
      (*value.shape)[*axis] = unknown_dim;
      continue;
    }
    const std::int64_t low = step > 0 ? 0 : -1;
    const std::int64_t high = step > 0 ? size : size - 1;
    const auto bound = [&](std::int64_t at) {
      return std::clamp(at < 0 ? std::max(at, -largest_dim) + size : at, low, high);
    };
    // From the end downwards an end before the first element is written as a number below -size.
    const std::int64_t start = bound(slicing->starts[i]);
    const std::int64_t end = bound(slicing->ends[i]);
    const std::int64_t count = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    (*value.shape)[*axis] = std::max<std::int64_t>(0, count);
    const auto& from = call.input(0).integers;
    if (from && shape->size() == 1 && slicing->axes.size() == 1 && std::ssize(*from) == size) {
      value.integers = Integers();
      for (std::int64_t k = 0; k < count; ++k) {
        value.integers->push_back((*from)[static_cast<std::size_t>(start + k * step)]);
      }
    }
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
    const auto begin = std::clamp((*pads)[i], -largest_dim, largest_dim);
    const auto end = std::clamp((*pads)[i + shape->size()], -largest_dim, largest_dim);
    if (dim >= 0 && dim <= largest_dim) dim = std::max<std::int64_t>(0, dim + begin + end);
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
    return {{Shape(value->t().dims().begin(), value->t().dims().end()), small_integers(value->t())}};
  }
  if (const auto integers = call.attributes().integers("value_ints")) return {{Shape{std::ssize(*integers)}, integers}};
  const auto* integer = call.attributes().find("value_int");
  if (integer != nullptr) return {{Shape{}, Integers{integer->i()}}};
  const auto* floats = call.attributes().find("value_floats");
  if (floats != nullptr) return one(Shape{floats->floats_size()});
  return one(call.attributes().find("value_float") != nullptr ? std::optional(Shape{}) : std::nullopt);
}

Known constant_of_shape(const Call& call) { return one(call.input(0).integers); }

Known expand(const Call& call) {
  const auto& wanted = call.input(1).integers;
  return one(call.shape(0) && wanted ? broadcast(*call.shape(0), *wanted) : std::nullopt);
}

/// All states of a recurrent layer.
Known states(const Call& call) {
  const auto& x = call.shape(0);  // [time, batch, features]
  const auto& r = call.shape(2);  // [directions, gates * hidden, hidden]
  if (!x || !r || x->size() != 3 || r->size() != 3) return {};
  const bool batch_first = call.attributes().integer("layout", 0) != 0;
  const Shape time_first = {(*x)[0], (*r)[0], (*x)[1], (*r)[2]};
  const Shape batched = {(*x)[0], (*x)[1], (*r)[0], (*r)[2]};
  return one(batch_first ? batched : time_first);
}

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table = [] {
    std::unordered_map<std::string_view, Rule> rules = {
        {"Conv", convolution(1)},
        {"ConvInteger", convolution(1)},
        {"QLinearConv", convolution(3)},
        {"FusedConv", convolution(1)},
        {"MaxPool", pooling},
        {"AveragePool", pooling},
        {"LpPool", pooling},
        {"GlobalAveragePool", global_pooling},
        {"GlobalMaxPool", global_pooling},
        {"ConvTranspose", transposed_convolution},
        {"MatMul", matrix_product(1)},
        {"MatMulInteger", matrix_product(1)},
        {"QLinearMatMul", matrix_product(3)},
        {"Gemm", gemm},
        {"FusedGemm", gemm},
        {"Transpose", transpose},
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
        {"Expand", expand},
        {"Identity", same},
        {"Cast", same},
        {"LSTM", states},
        {"GRU", states},
        {"RNN", states},
    };
    for (const std::string_view op : {"Relu",
                                      "Sigmoid",
                                      "Tanh",
                                      "Erf",
                                      "Gelu",
                                      "Softmax",
                                      "LogSoftmax",
                                      "Dropout",
                                      "LeakyRelu",
                                      "Elu",
                                      "Selu",
                                      "Celu",
                                      "Clip",
                                      "Exp",
                                      "Log",
                                      "Sqrt",
                                      "Neg",
                                      "Abs",
                                      "Floor",
                                      "Ceil",
                                      "Round",
                                      "Reciprocal",
                                      "Sin",
                                      "Cos",
                                      "HardSigmoid",
                                      "HardSwish",
                                      "Softplus",
                                      "Softsign",
                                      "Not",
                                      "Sign",
                                      "IsNaN",
                                      "LRN",
                                      "Mish",
                                      "Swish",
                                      "Hardmax",
                                      "CastLike",
                                      "PRelu",
                                      "Trilu",
                                      "CumSum",
                                      "Shrink",
                                      "ThresholdedRelu",
                                      "LayerNormalization",
                                      "BatchNormalization",
                                      "InstanceNormalization",
                                      "GroupNormalization",
                                      "RMSNormalization",
                                      "SimplifiedLayerNormalization",
                                      "LpNormalization",
                                      "MeanVarianceNormalization",
                                      "QuantizeLinear",
                                      "DequantizeLinear",
                                      "DynamicQuantizeLinear",
                                      "ScatterND",
                                      "ScatterElements",
                                      "FastGelu",
                                      "BiasGelu",
                                      "QuickGelu",
                                      "RotaryEmbedding"}) {
      rules.emplace(op, same_shape);
    }
    for (const std::string_view op :
         {"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Sum", "Mean", "Mod", "And", "Or", "Xor", "Equal", "Greater",
          "Less", "GreaterOrEqual", "LessOrEqual", "Where"}) {
      rules.emplace(op, broadcast_all);
    }
    for (const std::string_view op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                                      "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
      rules.emplace(op, reduce);
    }
    return rules;
  }();
  return table;
}

}  // namespace

std::vector<KnownValue> infer(const schema::NodeProto& node, const Attributes& attributes, const Values& values) {
  if (!node.domain().empty() && node.domain() != "ai.onnx" && node.domain() != "com.microsoft") return {};
  const auto rule = rules().find(node.op_type());
  if (rule == rules().end()) return {};
  Known outputs = rule->second(Call(node, attributes, values));
  for (KnownValue& output : outputs) {  // no chain of nodes makes them grow without end
    if (output.shape && output.shape->size() > most_values) output.shape.reset();
    if (output.integers && output.integers->size() > most_values) output.integers.reset();
  }
  return outputs;
}

}  // namespace onnxar
