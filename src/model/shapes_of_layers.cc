// Layers: convolutions and pooling, products of matrices, recurrent ones.
#include <algorithm>

#include "model/shape_rules.h"

namespace onnxar::shape_rules {
namespace {

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

}  // namespace

void add_layers(Rules& rules) {
  rules.insert({{"Conv", convolution(1)},
                {"ConvInteger", convolution(1)},
                {"QLinearConv", convolution(3)},
                {"FusedConv", convolution(1)},
                {"ConvTranspose", transposed_convolution},
                {"MaxPool", pooling},
                {"AveragePool", pooling},
                {"LpPool", pooling},
                {"GlobalAveragePool", global_pooling},
                {"GlobalMaxPool", global_pooling},
                {"MatMul", matrix_product(1)},
                {"MatMulInteger", matrix_product(1)},
                {"QLinearMatMul", matrix_product(3)},
                {"Gemm", gemm},
                {"FusedGemm", gemm},
                {"LSTM", states},
                {"GRU", states},
                {"RNN", states}});
}

}  // namespace onnxar::shape_rules
