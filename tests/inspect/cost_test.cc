// Multiply-adds are estimated within a budget of steps. The tests count the steps, and measure no time.
#include "inspect/cost.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

constexpr std::string_view too_large = "the limit of steps for a model of this size was reached";
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// The estimate within the budget for the model's size, and the steps that it took.
struct Estimated {
  CostEstimate cost;
  std::uint64_t steps = 0;
  std::uint64_t allowed = 0;
};

Estimated run(const Message& message) {
  const schema::ModelProto proto = parsed(message);
  const std::uint64_t allowed = Budget::steps_per_byte * message.view().size() + Budget::steps_for_all;
  Budget budget(allowed);
  Estimated done{estimate_cost(proto, budget), 0, allowed};
  done.steps = budget.taken();
  return done;
}

/// The estimate for nodes whose input shapes are given.
CostEstimate cost_of(const Messages& inputs, const Messages& nodes, const Messages& initializers = {}) {
  return run(model({.graph = graph({.nodes = nodes, .initializers = initializers, .inputs = inputs})})).cost;
}

Message shaped(std::string_view name, const Dims& dims) { return value_info(name, dtype::float32, dims); }
Message call(std::string_view function) {
  Message node = testing::node(function, {"x"}, {"y"});
  node.string(7, "d");
  return node;
}

/// Functions, each of which calls the next one twice.
Message doubling(int depth, std::size_t inputs_of_last) {
  Messages functions;
  for (int i = 0; i <= depth; ++i) {
    Message f;
    f.string(1, "f" + std::to_string(i));
    for (std::size_t k = 0; k < (i == depth ? inputs_of_last : 1); ++k)
      f.string(4, k == 0 ? "x" : "x" + std::to_string(k));
    f.string(5, "y");
    const Message body = i == depth ? node("MatMul", {"x", "x"}, {"y"}) : call("f" + std::to_string(i + 1));
    f.message(7, body).message(7, body).string(10, "d");
    functions.push_back(f);
  }
  return model({.graph = graph({.nodes = {call("f0")}, .inputs = {shaped("x", {2, 2})}}), .functions = functions});
}

TEST(CostBudget, FollowsRecursiveFunctionsWithinTheBudget) {
  const Estimated small = run(doubling(3, 1));
  EXPECT_EQ(small.cost.multiply_adds, 8U * 16);  // eight calls, two products of 2x2 matrices each
  EXPECT_TRUE(small.cost.not_known.empty());
  const Estimated large = run(doubling(60, 1));  // 2^60 calls
  EXPECT_LE(large.steps, large.allowed);
  ASSERT_FALSE(large.cost.not_known.empty());
  EXPECT_EQ(large.cost.not_known.front().reason, too_large);
}

TEST(CostBudget, CountsManyInputsOfAFunctionAtEachCall) {
  const Estimated done = run(doubling(60, 20'000));
  EXPECT_LE(done.steps, done.allowed);
  EXPECT_FALSE(done.cost.not_known.empty());
}

TEST(CostBudget, DoesNotMultiplyOutAWideSplit) {
  const Estimated done = run(model({.graph = graph({.nodes = {node("Split", {"x"}, Names(20'000, "y"))},
                                                    .inputs = {shaped("x", Dims(20'000, 1))}})}));
  EXPECT_LE(done.steps, done.allowed);
}

TEST(CostBudget, CountsRepeatedLookupsOfAttributes) {
  // Many nodes search many attributes for a name, so the work is more than linear in the size of the file.
  Messages attributes;
  for (int i = 0; i < 5'000; ++i) attributes.push_back(attribute_i("a" + std::to_string(i), 1));
  Message f;
  f.string(1, "F").string(4, "x").string(5, "y");
  Message body = node("Conv", {"x", "x"}, {"y"});
  for (int i = 0; i < 5'000; ++i)
    f.message(7, node("Conv", {"x", "x"}, {"y"}, {Message().string(1, "strides").string(21, "a")}));
  f.string(10, "d");
  Message outer = call("F");
  for (const Message& attribute : attributes) outer.message(5, attribute);
  const Estimated done = run(
      model({.graph = graph({.nodes = Messages(20, outer), .inputs = {shaped("x", {1, 1, 1})}}), .functions = {f}}));
  EXPECT_LE(done.steps, done.allowed);
}

TEST(CostBudget, GraphsOfAnAttributeArePaidForAtEachVisit) {
  Message graphs;  // 10 000 empty ones
  graphs.string(1, "a");
  for (int i = 0; i < 10'000; ++i) graphs.string(11, "");
  Message f;
  f.string(1, "F").string(10, "d").message(7, node("X", {}, {"y"}, {graphs}));
  const Estimated done = run(model({.graph = graph({.nodes = Messages(10'000, call("F"))}), .functions = {f}}));
  EXPECT_LE(done.steps, done.allowed);
  ASSERT_FALSE(done.cost.not_known.empty());
  EXPECT_EQ(done.cost.not_known.back().reason, too_large);
}

TEST(CostBudget, SpentBudgetFindsLessButNoOtherNumber) {
  const Message message = doubling(6, 1);
  const schema::ModelProto proto = parsed(message);
  Budget enough(1'000'000'000);
  const std::uint64_t whole = estimate_cost(proto, enough).multiply_adds;
  for (std::uint64_t steps = 0; steps < enough.taken(); steps += 1 + enough.taken() / 200) {
    Budget budget(steps);
    const CostEstimate cost = estimate_cost(proto, budget);
    EXPECT_LE(cost.multiply_adds, whole);
    EXPECT_EQ(cost.multiply_adds % 8, 0U) << "a product of another size was counted";
    if (cost.multiply_adds != whole) {
      EXPECT_FALSE(cost.not_known.empty()) << steps << " steps of " << enough.taken();
    }
  }
}

TEST(CostBudget, AnOrdinaryGraphTakesFarLessThanItsBudget) {
  Messages nodes;
  for (int i = 0; i < 1000; ++i) {
    nodes.push_back(node("Conv", {"x" + std::to_string(i), "w"}, {"x" + std::to_string(i + 1)},
                         {attribute_ints("strides", {1, 1}), attribute_ints("pads", {1, 1, 1, 1})}));
  }
  const Message message =
      model({.graph = graph({.nodes = nodes, .inputs = {shaped("x0", {1, 8, 16, 16}), shaped("w", {8, 8, 3, 3})}})});
  const Estimated done = run(message);
  EXPECT_EQ(done.cost.multiply_adds, 1000U * 8 * 16 * 16 * 8 * 9);
  EXPECT_LE(done.steps, 8 * message.view().size());
}

TEST(CostArithmetic, WhatLeaves64BitsIsNotKnown) {
  const Messages inputs = {shaped("x", {1, 1, 5}), shaped("w", {1, 1, 3}), shaped("v", {1})};
  const auto nothing = [](const CostEstimate& cost) { return cost.multiply_adds == 0 && !cost.not_known.empty(); };
  // Each output is the input of a further product, so its shape counts.
  const auto then_product = [](const Message& first) { return Messages{first, node("Conv", {"y", "w"}, {"z"})}; };
  for (const char* const name : {"output_padding", "pads", "strides", "dilations"}) {
    for (const std::int64_t value : {most, -most - 1, most / 2 + 1}) {
      const Message transposed = node("ConvTranspose", {"x", "w"}, {"y"}, {attribute_ints(name, {value, value})});
      EXPECT_EQ(cost_of(inputs, {transposed}).multiply_adds, 15U) << name;  // from its inputs alone
      static_cast<void>(cost_of(inputs, then_product(transposed)));
      static_cast<void>(
          cost_of(inputs, then_product(node("Conv", {"x", "w"}, {"y"}, {attribute_ints(name, {value, value})}))));
    }
  }
  EXPECT_TRUE(nothing(cost_of(inputs, {node("Conv", {"x", "w"}, {"y"}, {attribute_ints("dilations", {most})})})));
  EXPECT_TRUE(nothing(cost_of(inputs, {node("Conv", {"x", "w"}, {"y"}, {attribute_ints("pads", {most, most})})})));
}

TEST(CostArithmetic, NegativeDimensionsAreUnknownOnes) {
  const Message shape = tensor("sh", dtype::int64, {3})
                            .raw_data(blob(std::string("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\1\0\0\0\0\0\0\0", 24)));
  const CostEstimate cost =
      cost_of({shaped("x", {1, 1, 5}), shaped("v", {1})},
              {node("Reshape", {"v", "sh"}, {"w"}), node("ConvTranspose", {"x", "w"}, {"y"}, {attribute_i("group", 2)}),
               node("Conv", {"y", "y"}, {"z"})},
              {shape});
  EXPECT_EQ(cost.multiply_adds, 0U);
  ASSERT_EQ(cost.not_known.size(), 2U);
  for (const UnknownCost& unknown : cost.not_known) EXPECT_EQ(unknown.reason, "its shapes are not known");
}

}  // namespace
}  // namespace onnxar::testing
