#include "cost/counters.h"

#include "onnx/domains.h"

namespace onnxar {
namespace {

constexpr std::string_view no_shapes = "its shapes are not known";

Estimate estimate_of(const Size& a, const Size& b) {
  if (!a.is_known() || !b.is_known()) return no_shapes;
  const Size product = a * b;
  return product.is_known() ? Estimate(product) : Estimate(std::string_view("the count is beyond 64 bits"));
}

Size elements_of(const std::optional<Shape>& shape) { return shape ? elements(*shape) : Size(); }

/// The product of all dimensions except the first.
Size rest_of(const std::optional<Shape>& shape) {
  return shape && !shape->empty() ? elements(Shape(shape->begin() + 1, shape->end())) : Size();
}

/// Each output element sums a window of C/group channels.
Counter convolution(int weights) {
  return
      [weights](const Product& node) { return estimate_of(elements_of(node.output()), rest_of(node.input(weights))); };
}

/// Each input element adds to a window of M/group channels.
Estimate transposed_convolution(const Product& node) {
  return estimate_of(elements_of(node.input(0)), rest_of(node.input(1)));
}

/// Each output element is the product of a row and a column.
Estimate matrix_product(const Product& node) {
  const auto& a = node.input(0);
  return a && !a->empty() ? estimate_of(elements_of(node.output()), a->back()) : no_shapes;
}

Estimate gemm(const Product& node) {
  const auto& a = node.input(0);
  if (!a || a->size() != 2) return no_shapes;
  return estimate_of(elements_of(node.output()), (*a)[node.attributes().integer("transA", 0) != 0 ? 0 : 1]);
}

/// Each step of each sequence multiplies by the weights of the input and of the state.
Estimate recurrent(const Product& node) {
  const auto& x = node.input(0);
  if (!x || x->size() != 3) return no_shapes;
  return estimate_of((*x)[0] * (*x)[1], elements_of(node.input(1)) + elements_of(node.input(2)));
}

}  // namespace

const base::KeyedMap<std::string_view, Counter>& counters() {
  static const base::KeyedMap<std::string_view, Counter> table = {{"Conv", convolution(1)},
                                                                  {"ConvInteger", convolution(1)},
                                                                  {"FusedConv", convolution(1)},
                                                                  {"QLinearConv", convolution(3)},
                                                                  {"ConvTranspose", transposed_convolution},
                                                                  {"MatMul", matrix_product},
                                                                  {"MatMulInteger", matrix_product},
                                                                  {"QLinearMatMul", matrix_product},
                                                                  {"Gemm", gemm},
                                                                  {"FusedGemm", gemm},
                                                                  {"LSTM", recurrent},
                                                                  {"GRU", recurrent},
                                                                  {"RNN", recurrent},
                                                                  {"DynamicQuantizeLSTM", recurrent}};
  return table;
}

bool is_uncounted(std::string_view op) {
  return op == "Einsum" || op == "Attention" || op == "DeformConv" || op == "FusedMatMul" || op == "DFT" ||
         op == "Det" || op == "MultiHeadAttention" || op == "GroupQueryAttention" || op == "MatMulNBits" ||
         op == "STFT";
}

bool is_standard(std::string_view domain) {
  return onnx::is_default_domain(domain) || domain == "ai.onnx.ml" || domain == "ai.onnx.training" ||
         domain == "ai.onnx.preview.training";
}

bool is_free(const schema::NodeProto& node) { return is_standard(node.domain()) && !is_uncounted(node.op_type()); }

}  // namespace onnxar
