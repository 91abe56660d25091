// Shapes of outputs that have the input's elements in another shape, computed by hand from onnx/docs/Operators.md.
#include <gtest/gtest.h>

#include <cstdint>

#include "inspect/inferring.h"

namespace onnxar::testing {
namespace {

TEST(ShapesOfParts, RearrangesAllElements) {
  expect_inferred({
      {node("Reshape", {"x0", "s"}, {"y"}), {{2, 12}}, {integer_tensor("s", {0, -1, 4})}, "[2,3,4]"},
      {node("Transpose", {"x0"}, {"y"}, {attribute_ints("perm", {2, 0, 1})}), {{2, 3, 4}}, {}, "[4,2,3]"},
      {node("Transpose", {"x0"}, {"y"}), {{2, 3, 4}}, {}, "[4,3,2]"},
      {node("Flatten", {"x0"}, {"y"}, {attribute_i("axis", 2)}), {{2, 3, 4, 5}}, {}, "[6,20]"},
      {node("Squeeze", {"x0", "a"}, {"y"}), {{1, 3, 1}}, {integer_tensor("a", {-1})}, "[1,3]"},
      {node("Unsqueeze", {"x0", "a"}, {"y"}), {{3}}, {integer_tensor("a", {0, 2})}, "[1,3,1]"},
  });
}

TEST(ShapesOfParts, TakesAndJoinsParts) {
  const Messages slice = {integer_tensor("b", {1}), integer_tensor("e", {4}), integer_tensor("a", {0})};
  const Messages to_the_end = {integer_tensor("b", {-3}), integer_tensor("e", {INT64_MAX}), integer_tensor("a", {-1})};
  expect_inferred({
      {node("Slice", {"x0", "b", "e", "a"}, {"y"}), {{10, 5}}, slice, "[3,5]"},
      {node("Slice", {"x0", "b", "e", "a"}, {"y"}), {{10, 5}}, to_the_end, "[10,3]"},
      {node("Split", {"x0"}, {"y", "z"}, {attribute_i("axis", 1)}), {{2, 6}}, {}, "[2,3] [2,3]"},
      {node("Split", {"x0", "s"}, {"y", "z"}), {{5, 6}}, {integer_tensor("s", {1, 4})}, "[1,6] [4,6]"},
      {node("Gather", {"x0", "x1"}, {"y"}, {attribute_i("axis", 1)}), {{5, 6}, {2, 3}}, {}, "[5,2,3]"},
      {node("Concat", {"x0", "x1"}, {"y"}, {attribute_i("axis", -1)}), {{2, 3}, {2, 5}}, {}, "[2,8]"},
      {node("Pad", {"x0", "p"}, {"y"}), {{2, 3}}, {integer_tensor("p", {0, 1, 0, 2})}, "[2,6]"},
  });
}

TEST(ShapesOfParts, ReducesAxes) {
  const auto reduce = [](const Messages& attributes) { return node("ReduceMean", {"x0"}, {"y"}, attributes); };
  expect_inferred({
      {reduce({attribute_ints("axes", {1})}), {{2, 3, 4}}, {}, "[2,1,4]"},
      {reduce({attribute_ints("axes", {-1}), attribute_i("keepdims", 0)}), {{2, 3, 4}}, {}, "[2,3]"},
      {reduce({attribute_i("keepdims", 0)}), {{2, 3, 4}}, {}, "[]"},
  });
}

TEST(ShapesOfParts, AxesOutOfRangeAreUnknown) {
  for (const std::int64_t axis : {std::int64_t{2}, std::int64_t{-3}, INT64_MAX, INT64_MIN}) {
    expect_inferred({
        {node("Concat", {"x0", "x1"}, {"y"}, {attribute_i("axis", axis)}), {{2, 3}, {2, 5}}, {}, "?"},
        {node("Gather", {"x0", "x1"}, {"y"}, {attribute_i("axis", axis)}), {{5, 6}, {2, 3}}, {}, "?"},
    });
  }
}

}  // namespace
}  // namespace onnxar::testing
