// The main graph in numbers: interface, operators, faults.
#include "inspect/graph_summary.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

GraphSummary summary_of_model(const Message& message) { return summary_of_graph(parsed(message)); }

std::vector<std::string> dangling_in(const GraphSummary& summary) {
  std::vector<std::string> found;
  for (const DanglingInput& input : summary.dangling) found.push_back(input.name + " of " + input.site);
  return found;
}

TEST(GraphSummary, InputsWithADefaultValueAreNotListed) {
  const GraphSummary summary = summary_of_model(model(
      {.graph = graph({.initializers = {floats("w", 3)},
                       .inputs = {value_info("x", dtype::float32, {2}), value_info("w", dtype::float32, {3})}})}));
  ASSERT_THAT(summary.inputs, SizeIs(1));
  EXPECT_EQ(summary.inputs[0].name, "x");
  EXPECT_EQ(summary.inputs[0].type, "FLOAT");
}

// The most frequent operator comes first.
TEST(GraphSummary, CountsOperatorsAtEveryDepth) {
  const Message body = graph({.nodes = {node("Relu", {"x"}, {"a"}), node("Relu", {"a"}, {"b"})}});
  const GraphSummary summary = summary_of_model(
      model({.graph = graph({.nodes = {node("Abs", {"x"}, {"y"}), node("Loop", {}, {"z"}, {attribute_g("body", body)})},
                             .inputs = {value_info("x", dtype::float32, {2})}})}));
  EXPECT_EQ(summary.nodes, 2U);
  EXPECT_EQ(summary.all_nodes, 4U);
  EXPECT_EQ(summary.subgraphs, 1U);
  ASSERT_THAT(summary.ops, SizeIs(3));
  EXPECT_EQ(summary.ops[0].op, "Relu");
  EXPECT_EQ(summary.ops[0].nodes, 2U);
  EXPECT_EQ(summary.ops[1].op, "Abs");
  EXPECT_THAT(summary.dangling, IsEmpty());
}

// It is in scope in its own graph and in the graphs inside that one.
TEST(GraphSummary, NameIsUndefinedUnlessInScope) {
  const Message inner = graph({.nodes = {node("Add", {"outer", "gone"}, {"i"})}});
  const Message sibling = graph({.nodes = {node("Neg", {"i"}, {"s"})}});
  const GraphSummary summary = summary_of_model(model(
      {.graph = graph({.nodes = {node("If", {"x"}, {"y"}, {attribute_g("then", inner), attribute_g("else", sibling)}),
                                 node("Abs", {"x"}, {"outer"})},
                       .inputs = {value_info("x", dtype::float32, {2})}}),
       .functions = {function({.name = "F", .inputs = {"p"}, .nodes = {node("Add", {"p", "x"}, {"q"})}})}}));
  EXPECT_THAT(dangling_in(summary), ElementsAre("gone of graph.node[0].attr.then.node[0]",
                                                "i of graph.node[0].attr.else.node[0]", "x of functions[0].node[0]"));
}

TEST(GraphSummary, ABrokenModelHasAHundredFaultsAtMost) {
  const GraphSummary summary =
      summary_of_model(model({.graph = graph({.nodes = Messages(150, node("Neg", {"gone"}, {}))})}));
  EXPECT_THAT(summary.dangling, SizeIs(100));
}

TEST(GraphSummary, ACycleInAFunctionIsFound) {
  const GraphSummary summary = summary_of_model(
      model({.graph = graph({}), .functions = {function({.name = "F", .nodes = {node("Neg", {"a"}, {"a"})}})}}));
  EXPECT_THAT(summary.cycle, ElementsAre("functions[0].node[0]"));
  EXPECT_EQ(summary.depth, 0U);
}

}  // namespace
}  // namespace onnxar::testing
