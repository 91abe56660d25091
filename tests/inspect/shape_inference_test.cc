// Which operators have known outputs, and that nothing is known once the budget is spent.
#include "inspect/shape_inference.h"

#include <gtest/gtest.h>

#include <string_view>

#include "inspect/inferring.h"

namespace onnxar::testing {
namespace {

TEST(Infer, ActivationsKeepTheShape) {
  for (const std::string_view op : {"Identity", "Cast", "Relu", "Sigmoid", "Softmax"}) {
    EXPECT_EQ(inferred({node(op, {"x0"}, {"y"}), {{2, -1, 4}}, {}, ""}), "[2,?,4]") << op;
  }
}

TEST(Infer, PairsAreBroadcast) {
  EXPECT_EQ(inferred({node("Pow", {"x0", "x1"}, {"y"}), {{4, 1}, {5}}, {}, ""}), "[4,5]");
  EXPECT_EQ(inferred({node("Pow", {"x0", "x1"}, {"y"}), {{4, 2}, {5}}, {}, ""}), "?");
}

TEST(Infer, OtherOperatorsAndDomainsAreUnknown) {
  EXPECT_EQ(inferred({node("Unheard", {"x0"}, {"y"}), {{2}}, {}, ""}), "");
  EXPECT_EQ(inferred({node("Relu", {"x0"}, {"y"}, {}, "their.domain"), {{2}}, {}, ""}), "");
  EXPECT_EQ(inferred({node("Relu", {"x0"}, {"y"}, {}, "ai.onnx"), {{2}}, {}, ""}), "[2]");
}

TEST(Infer, SpentBudgetGivesNothing) {
  const Inference relu = {node("Relu", {"x0"}, {"y"}), {{2}}, {}, ""};
  EXPECT_EQ(inferred(relu, 1000), "[2]");
  EXPECT_EQ(inferred(relu, 0), "");
}

}  // namespace
}  // namespace onnxar::testing
