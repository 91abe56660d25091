// Tests dimensions without a value, and values given for them.
#include "inspect/open_dimensions.h"

#include <gmock/gmock.h>

#include <string>

#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

using Unbound = OpenDimensions::Unbound;

/// A graph with the input x[batch, ?, 3] of floats.
schema::GraphProto open_graph(const std::string& name = "batch") {
  schema::GraphProto graph;
  auto& input = *graph.add_input();
  input.set_name("x");
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.add_dim()->set_dim_param(name);
  shape.add_dim();
  shape.add_dim()->set_dim_value(3);
  return graph;
}

class OpenDimensionsTest : public ::testing::Test {
 protected:
  /// `name from to`, for each range.
  [[nodiscard]] std::string ranges() const {
    std::string text;
    for (const SizeRange& range : open_.with_names({{{0, 1}, 1}}).sizes) {
      text += range.name + " " + std::to_string(range.least) + " " + std::to_string(range.most) + ";";
    }
    return text;
  }

  Bindings none_;
  schema::GraphProto graph_ = open_graph();
  OpenDimensions open_ = OpenDimensions(graph_, none_, Unbound::variable);
  Size batch_ = open_.size("batch");
  Size second_ = open_.size("x[1]");
};

TEST_F(OpenDimensionsTest, OnlyOpenDimensionsOfInputsAreVariables) {
  EXPECT_TRUE(batch_.is_open());
  EXPECT_TRUE(second_.is_open());
  EXPECT_FALSE(batch_ == second_);
  EXPECT_FALSE(open_.size("x[2]").is_known());
  EXPECT_FALSE(open_.size("other").is_known());
}

TEST_F(OpenDimensionsTest, OnRequestUnboundDimensionsAreUnknown) {
  const Bindings bindings = {{"batch", 4}};
  const OpenDimensions open(graph_, bindings, Unbound::unknown);
  EXPECT_EQ(open.size("batch"), 4);
  EXPECT_FALSE(open.size("x[1]").is_known());
  EXPECT_FALSE(open.has_variables());
}

TEST_F(OpenDimensionsTest, WhatHoldsForAllSizesIsProved) {
  EXPECT_TRUE(open_.is_at_least(batch_, 1));
  EXPECT_FALSE(open_.is_at_least(batch_, 2));
  EXPECT_TRUE(open_.is_at_least(batch_ * second_ * 2 - batch_, 1));
  EXPECT_TRUE(open_.is_at_least(batch_ * batch_ - batch_, 0));
  EXPECT_FALSE(open_.is_at_least(batch_ - second_, 0));
  EXPECT_TRUE(open_.is_at_least(Size(2'147'483'647) - batch_, 0));
  EXPECT_FALSE(open_.is_at_least(Size(), 0));
}

TEST_F(OpenDimensionsTest, RangesAreNarrowedAsFarAsNeeded) {
  EXPECT_TRUE(open_.narrow_to(batch_ * 3 - 10, 1));
  EXPECT_EQ(ranges(), "batch 4 2147483647;x[1] 1 2147483647;");  // 3 * 4 - 10 = 2; of 3 it is -1
  EXPECT_TRUE(open_.narrow_to(Size(512) - batch_ * 5, 0));
  EXPECT_EQ(ranges(), "batch 4 102;x[1] 1 2147483647;");  // 5 * 102 = 510
  EXPECT_FALSE(open_.narrow_to(batch_, 103)) << "no size would remain";
  EXPECT_FALSE(open_.narrow_to(batch_ - second_, 0)) << "two variables";
  EXPECT_EQ(ranges(), "batch 4 102;x[1] 1 2147483647;");
}

TEST_F(OpenDimensionsTest, ShapesHaveNoNegativeDimensions) {
  Shape shape = {-1, 0, batch_ - 2, batch_ - second_, Size()};
  open_.make_proper(shape);
  EXPECT_THAT(shape, ::testing::ElementsAre(Size(), 0, batch_ - 2, Size(), Size()));
  EXPECT_EQ(ranges(), "batch 3 2147483647;x[1] 1 2147483647;");
}

TEST_F(OpenDimensionsTest, TermsHaveTheNamesOfTheirDimensions) {
  const CostPolynomial named = open_.with_names((batch_ * batch_ * second_ * 5 - batch_ + 7).polynomial());
  EXPECT_EQ(to_string(named, [](const std::string& name) { return name; }), "5*batch^2*x[1] - batch + 7");
  EXPECT_EQ(to_string(CostPolynomial(), [](const std::string& name) { return name; }), "0");
}

TEST_F(OpenDimensionsTest, DimensionsWithLongNamesStayUnknown) {
  const std::string name(1000, 'n');
  const schema::GraphProto graph = open_graph(name);
  const OpenDimensions open(graph, none_, Unbound::variable);
  EXPECT_FALSE(open.size(name).is_known());
  EXPECT_TRUE(open.size("x[1]").is_known());
}

}  // namespace
}  // namespace onnxar::testing
