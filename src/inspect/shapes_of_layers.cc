// Infers the outputs of layers: convolution, pooling, products of matrices, recurrent layers.
#include <algorithm>

#include "inspect/shape_rules.h"

namespace onnxar::shape_rules {
namespace {

// --- Windows ---------------------------------------------------------------------------------------------------------

/// A window that slides along one dimension. The sums are checked, because all these numbers come from the model.
struct Window {
  Size kernel = 1;
  std::int64_t stride = 1, dilation = 1;
  Size pads = 0;  // the sum of both ends

  /// True if the numbers describe a window. A kernel of unknown size does not.
  [[nodiscard]] bool is_sane() const { return kernel.number().value_or(0) >= 1 && stride >= 1 && dilation >= 1; }
  /// Returns the number of input elements that the window spans.
  [[nodiscard]] Size extent() const { return (kernel - 1) * dilation + 1; }
};

/// The attributes of a layer with a sliding window. They are looked up once, because each lookup costs steps.
struct Windows {
  std::optional<Integers> strides, dilations, pads;
  std::string_view auto_pad;
  bool ceil = false;

  [[nodiscard]] Window at(const Shape& kernel, std::size_t axis) const {
    const auto value = [](const std::optional<Integers>& values, std::size_t index, std::int64_t otherwise) {
      return values && index < values->size() ? (*values)[index] : otherwise;
    };
    return {kernel[axis], value(strides, axis, 1), value(dilations, axis, 1),
            Size(value(pads, axis, 0)) + value(pads, axis + kernel.size(), 0)};
  }
};

Windows windows_of(const Attributes& layer) {
  return {layer.integers("strides"), layer.integers("dilations"), layer.integers("pads"), layer.text("auto_pad"),
          layer.integer("ceil_mode", 0) != 0};
}

Size rounded_up(const Size& size, std::int64_t divisor) { return (size + (divisor - 1)).divided_down(divisor); }

/// Returns the number of positions of the window along a dimension of `size` elements.
Size positions(const Size& size, const Window& window, const Windows& windows) {
  if (window.stride < 1) return {};
  if (windows.auto_pad.starts_with("SAME")) return rounded_up(size, window.stride);
  if (!window.is_sane()) return {};
  const Size room = size + (windows.auto_pad == "VALID" ? 0 : window.pads) - window.extent();
  if (room.number().value_or(0) < 0) return 0;
  if (!windows.ceil) return room.divided_down(window.stride) + 1;
  // Without room there is no position, but a polynomial that is rounded up does not show this.
  return (room.is_open() ? room.divided_exactly(window.stride) : rounded_up(room, window.stride)) + 1;
}

/// Returns the output shape of a convolution or pooling with `channels` channels.
std::optional<Shape> slid(const Call& call, const Shape& input, const Shape& kernel, const Size& channels) {
  if (input.size() != kernel.size() + 2) return std::nullopt;
  Shape shape = {input[0], channels};
  const Windows windows = windows_of(call.attributes());
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    shape.push_back(positions(input[i + 2], windows.at(kernel, i), windows));
  }
  return shape;
}

/// `weights`: the index of the input with the weights, of shape [M, C/group, kernel...].
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
  const auto shape = slid(call, *x, Shape(kernel->begin(), kernel->end()), (*x)[1]);
  return {{shape, std::nullopt}, {shape, std::nullopt}};  // MaxPool's second output, the indices, has the same shape
}

Known global_pooling(const Call& call) {
  std::optional<Shape> shape = call.shape(0);
  if (shape && shape->size() > 2) std::fill(shape->begin() + 2, shape->end(), 1);
  return one(shape);
}

/// Returns the output size of a transposed convolution along a dimension of `size` elements: the inverse of
/// `positions`.
Size spread(const Size& size, const Window& window, const Windows& windows, std::int64_t output_padding) {
  if (window.stride < 1) return {};
  if (windows.auto_pad.starts_with("SAME")) return size * window.stride;
  if (!window.is_sane()) return {};
  return (size - 1) * window.stride + output_padding + window.extent() - window.pads;
}

Known transposed_convolution(const Call& call) {
  const auto& x = call.shape(0);
  const auto& w = call.shape(1);  // [C, M/group, kernel...]
  if (!x || !w || w->size() < 2 || x->size() != w->size()) return one(std::nullopt);
  const Shape kernel(w->begin() + 2, w->end());
  const auto stated = call.attributes().integers("output_shape");
  const auto extra = call.attributes().integers("output_padding");
  const std::int64_t group = call.attributes().integer("group", 1);
  const Windows windows = windows_of(call.attributes());
  Shape shape = {(*x)[0], group >= 1 ? (*w)[1] * group : Size()};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t added = extra && i < extra->size() ? (*extra)[i] : 0;
    const bool is_stated = stated && i < stated->size();
    shape.push_back(is_stated ? Size((*stated)[i]) : spread((*x)[i + 2], windows.at(kernel, i), windows, added));
  }
  return one(shape);
}

// --- Products --------------------------------------------------------------------------------------------------------

/// Follows numpy.matmul: a vector becomes a row or column for the product, and the added dimension is removed again.
std::optional<Shape> product(Shape a, Shape b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const bool is_row = a.size() == 1;
  const bool is_column = b.size() == 1;
  if (is_row) a.insert(a.begin(), 1);
  if (is_column) b.emplace_back(1);
  auto shape = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!shape) return std::nullopt;
  if (!is_row) shape->push_back(a[a.size() - 2]);
  if (!is_column) shape->push_back(b.back());
  return shape;
}

/// `b`: the index of the right factor.
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

/// Returns the outputs of a recurrent layer: all its hidden states, the last one, and the last cell state.
Known states(const Call& call) {
  const auto& x = call.shape(0);  // [time, batch, features]
  const auto& r = call.shape(2);  // [directions, gates * hidden, hidden]
  if (!x || !r || x->size() != 3 || r->size() != 3) return {};
  const bool batch_first = call.attributes().integer("layout", 0) != 0;
  const Shape time_first = {(*x)[0], (*r)[0], (*x)[1], (*r)[2]};
  const Shape batched = {(*x)[0], (*x)[1], (*r)[0], (*r)[2]};
  const Shape last = {batch_first ? (*x)[0] : (*r)[0], batch_first ? (*r)[0] : (*x)[1], (*r)[2]};
  return {{batch_first ? batched : time_first, std::nullopt}, {last, std::nullopt}, {last, std::nullopt}};
}

/// ONNX Runtime's LSTM with quantised weights, whose dimensions are transposed.
Known quantised_states(const Call& call) {
  const auto& x = call.shape(0);
  const auto& r = call.shape(2);  // [directions, hidden, gates * hidden]
  if (!x || !r || x->size() != 3 || r->size() != 3) return {};
  const Shape last = {(*r)[0], (*x)[1], (*r)[1]};
  return {{Shape{(*x)[0], (*r)[0], (*x)[1], (*r)[1]}, std::nullopt}, {last, std::nullopt}, {last, std::nullopt}};
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
                {"RNN", states},
                {"DynamicQuantizeLSTM", quantised_states}});
}

}  // namespace onnxar::shape_rules
