// The order of nodes for execution, the depth of a graph, and cycles.
#include "model/order.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

schema::GraphProto graph_of_nodes(const Messages& nodes) { return parsed<schema::GraphProto>(graph({.nodes = nodes})); }

Order order_of_nodes(const Messages& nodes) {
  const schema::GraphProto graph = graph_of_nodes(nodes);
  Orders orders;
  return orders.of(graph);
}

std::vector<std::string> cycle_in_nodes(const Messages& nodes, std::size_t most = 100) {
  const schema::GraphProto graph = graph_of_nodes(nodes);
  Orders orders;
  return orders.find_cycle(graph.node(), "graph", most);
}

Message loop(const GraphParts& body, std::string_view output) {
  return node("Loop", {}, {std::string(output)}, {attribute_g("body", graph(body))});
}

TEST(Order, ANodeComesAfterTheProducersOfItsInputs) {
  const Order order = order_of_nodes({node("Relu", {"a"}, {"y"}), node("Abs", {"x"}, {"a"})});
  EXPECT_THAT(order.nodes, ElementsAre(1, 0));
  EXPECT_EQ(order.depth, 2U);
}

TEST(Order, IndependentNodesKeepTheOrderOfTheModel) {
  const Order order = order_of_nodes({node("Neg", {"x"}, {"c"}), node("Abs", {"x"}, {"a"}), node("Exp", {"x"}, {"b"})});
  EXPECT_THAT(order.nodes, ElementsAre(0, 1, 2));
  EXPECT_EQ(order.depth, 1U);
}

TEST(Order, NodeFollowsProducersThatItsSubgraphsUse) {
  const GraphParts inner = {.nodes = {node("Neg", {"a"}, {"b"})}};
  EXPECT_THAT(order_of_nodes({loop({.nodes = {loop(inner, "i")}}, "y"), node("Abs", {"x"}, {"a"})}).nodes,
              ElementsAre(1, 0));
  // The output of a subgraph may be a value of the outer graph.
  const GraphParts passing = {.outputs = {value_info("a", dtype::float32, {1})}};
  EXPECT_THAT(order_of_nodes({loop(passing, "y"), node("Abs", {"x"}, {"a"})}).nodes, ElementsAre(1, 0));
}

TEST(Order, ANameThatASubgraphDefinesHidesTheOuterOne) {
  const GraphParts body = {.nodes = {node("Neg", {"a"}, {"b"})}, .initializers = {floats("a", 1)}};
  EXPECT_THAT(order_of_nodes({loop(body, "y"), node("Abs", {"x"}, {"a"})}).nodes, ElementsAre(0, 1));
}

TEST(Order, AnEmptyNameConnectsNothing) {
  EXPECT_THAT(order_of_nodes({node("Clip", {"x", ""}, {"y"}), node("Dropout", {"x"}, {"z", ""})}).nodes,
              ElementsAre(0, 1));
}

TEST(Order, NodesOnACycleAndAfterItAreMissing) {
  const Order order = order_of_nodes(
      {node("Neg", {"b"}, {"a"}), node("Abs", {"a"}, {"b"}), node("Exp", {"b"}, {"c"}), node("Relu", {"x"}, {"d"})});
  EXPECT_THAT(order.nodes, ElementsAre(3));
}

TEST(Order, ALongChainOverflowsNoStack) {
  Messages nodes;
  for (int i = 100'000; i > 0; --i) {
    nodes.push_back(node("Neg", {"n" + std::to_string(i - 1)}, {"n" + std::to_string(i)}));
  }
  EXPECT_EQ(order_of_nodes(nodes).depth, 100'000U);
}

TEST(Cycle, IsListedInTheDirectionOfTheData) {
  const Messages ring = {node("Exp", {"c"}, {"after"}), node("Neg", {"c"}, {"a"}), node("Abs", {"a"}, {"b"}),
                         node("Relu", {"b"}, {"c"})};
  EXPECT_THAT(cycle_in_nodes(ring), ElementsAre("graph.node[3]", "graph.node[1]", "graph.node[2]"));
  EXPECT_THAT(cycle_in_nodes(ring, 2), SizeIs(2));
}

TEST(Cycle, OfASubgraphIsFound) {
  const GraphParts body = {.nodes = {node("Neg", {"a"}, {"a"})}};
  EXPECT_THAT(cycle_in_nodes({node("Abs", {"x"}, {"w"}), loop(body, "y")}),
              ElementsAre("graph.node[1].attr.body.node[0]"));
}

TEST(Cycle, IsNotWhereNodesAreOutOfOrder) {
  EXPECT_THAT(cycle_in_nodes({node("Relu", {"a"}, {"y"}), node("Abs", {"x"}, {"a"})}), IsEmpty());
}

}  // namespace
}  // namespace onnxar::testing
