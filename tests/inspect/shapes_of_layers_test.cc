// Shapes of the outputs of layers, computed by hand from onnx/docs/Operators.md.
#include <gtest/gtest.h>

#include "inspect/inferring.h"

namespace onnxar::testing {
namespace {

Message attribute_text(std::string_view name, std::string_view value) {
  return Message().string(1, name).string(4, value).varint(20, 3);
}

TEST(ShapesOfLayers, ConvolutionsFollowStridesAndPads) {
  const Message ones = attribute_ints("pads", {1, 1, 1, 1}), twos = attribute_ints("strides", {2, 2});
  expect_inferred({
      {node("Conv", {"x0", "x1"}, {"y"}), {{1, 3, 224, 224}, {64, 3, 7, 7}}, {}, "[1,64,218,218]"},
      {node("Conv", {"x0", "x1"}, {"y"}, {twos, attribute_ints("pads", {3, 3, 3, 3})}),
       {{1, 3, 224, 224}, {64, 3, 7, 7}},
       {},
       "[1,64,112,112]"},
      {node("Conv", {"x0", "x1"}, {"y"}, {attribute_ints("dilations", {2, 2})}),
       {{1, 3, 10, 10}, {8, 3, 3, 3}},
       {},
       "[1,8,6,6]"},
      {node("Conv", {"x0", "x1"}, {"y"}, {attribute_text("auto_pad", "SAME_UPPER"), twos}),
       {{1, 3, 33, 33}, {8, 3, 3, 3}},
       {},
       "[1,8,17,17]"},
      {node("Conv", {"x0", "x1"}, {"y"}, {ones}), {{-1, 3, 8, -1}, {8, 3, 3, 3}}, {}, "[?,8,8,?]"},
      {node("ConvTranspose", {"x0", "x1"}, {"y"}, {twos}), {{1, 16, 10, 10}, {16, 33, 3, 3}}, {}, "[1,33,21,21]"},
  });
}

// MaxPool may also return indices.
TEST(ShapesOfLayers, PoolsRoundAsAsked) {
  const Message kernel = attribute_ints("kernel_shape", {2, 2}), twos = attribute_ints("strides", {2, 2});
  expect_inferred({
      {node("MaxPool", {"x0"}, {"y"}, {kernel, twos}), {{1, 3, 33, 32}}, {}, "[1,3,16,16] [1,3,16,16]"},
      {node("MaxPool", {"x0"}, {"y"}, {kernel, twos, attribute_i("ceil_mode", 1)}),
       {{1, 3, 33, 32}},
       {},
       "[1,3,17,16] [1,3,17,16]"},
      {node("GlobalAveragePool", {"x0"}, {"y"}), {{1, 3, 7, 7}}, {}, "[1,3,1,1]"},
  });
}

TEST(ShapesOfLayers, ProductsBroadcastTheirFirstDimensions) {
  expect_inferred({
      {node("MatMul", {"x0", "x1"}, {"y"}), {{5, 2, 3}, {3, 4}}, {}, "[5,2,4]"},
      {node("MatMul", {"x0", "x1"}, {"y"}), {{5, 1, 2, 3}, {7, 3, 4}}, {}, "[5,7,2,4]"},
      {node("MatMul", {"x0", "x1"}, {"y"}), {{3}, {3, 4}}, {}, "[4]"},
      {node("MatMul", {"x0", "x1"}, {"y"}), {{3}, {3}}, {}, "[]"},
      {node("Gemm", {"x0", "x1"}, {"y"}, {attribute_i("transB", 1)}), {{2, 3}, {7, 3}}, {}, "[2,7]"},
      {node("Gemm", {"x0", "x1"}, {"y"}, {attribute_i("transA", 1)}), {{3, 2}, {3, 7}}, {}, "[2,7]"},
  });
}

TEST(ShapesOfLayers, RecurrentLayersHaveStates) {
  expect_inferred({
      {node("LSTM", {"x0", "x1", "x2"}, {"y", "h", "c"}, {attribute_i("hidden_size", 16)}),
       {{10, 4, 8}, {1, 64, 8}, {1, 64, 16}},
       {},
       "[10,1,4,16] [1,4,16] [1,4,16]"},
  });
}

}  // namespace
}  // namespace onnxar::testing
