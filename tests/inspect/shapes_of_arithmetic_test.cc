// Shapes and small integers of operators that compute shapes, computed by hand from onnx/docs/Operators.md.
#include <gtest/gtest.h>

#include <cstdint>

#include "inspect/inferring.h"

namespace onnxar::testing {
namespace {

TEST(ShapesOfArithmetic, ShapesBecomeIntegers) {
  expect_inferred({
      {node("Shape", {"x0"}, {"y"}), {{2, 3, 4}}, {}, "[3]=2,3,4"},
      {node("Shape", {"x0"}, {"y"}, {attribute_i("start", 1), attribute_i("end", -1)}), {{2, 3, 4}}, {}, "[1]=3"},
      {node("Size", {"x0"}, {"y"}), {{2, 3, 4}}, {}, "[]=24"},
      {node("Shape", {"x0"}, {"y"}), {{2, -1}}, {}, "[2]"},
  });
}

TEST(ShapesOfArithmetic, IntegersMakeShapes) {
  expect_inferred({
      {node("ConstantOfShape", {"s"}, {"y"}), {}, {integer_tensor("s", {2, 3})}, "[2,3]=0,0,0,0,0,0"},
      {node("Expand", {"x0", "s"}, {"y"}), {{3, 1}}, {integer_tensor("s", {2, 1, 6})}, "[2,3,6]"},
      {node("Constant", {}, {"y"}, {attribute_ints("value_ints", {5, 6})}), {}, {}, "[2]=5,6"},
  });
}

TEST(ShapesOfArithmetic, IntegersAreComputedUnlessTheyOverflow) {
  const auto of = [](std::string_view op, std::int64_t a, std::int64_t b, const std::string& expected) {
    return Inference{node(op, {"a", "b"}, {"y"}), {}, {integer_tensor("a", {a}), integer_tensor("b", {b})}, expected};
  };
  expect_inferred({
      of("Add", 2, 3, "[1]=5"),
      of("Sub", 2, 3, "[1]=-1"),
      of("Mul", 4, -3, "[1]=-12"),
      of("Div", 12, 4, "[1]=3"),
      of("Div", 13, 4, "[1]"),
      of("Div", 13, 0, "[1]"),
      of("Mod", 13, 4, "[1]=1"),
      of("Mod", -13, 4, "[1]"),
      of("Greater", 3, 2, "[1]=1"),
      of("Less", 3, 2, "[1]=0"),
      of("Equal", 3, 3, "[1]=1"),
      of("Add", INT64_MAX, 1, "[1]"),
      of("Mul", INT64_MAX, INT64_MAX, "[1]"),
  });
}

}  // namespace
}  // namespace onnxar::testing
