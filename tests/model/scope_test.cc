// The nodes that names need, in one list of nodes.
#include "model/scope.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// A list of nodes with the given names `x` and `w`. Subgraphs use the names in `used_inside`, by operator.
struct Listed {
  schema::GraphProto graph;
  std::map<std::string, Wanted> used_inside;
  std::vector<std::string> entered;

  Listed& add(const char* op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    schema::NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return *this;
  }
  Scope scope() {
    return {*graph.mutable_node(), onnxar::Names({"x", "w"}), "graph",
            [this](schema::NodeProto& node, const std::string&) {
              entered.push_back(node.op_type());
              return used_inside[node.op_type()];
            }};
  }
  std::vector<std::string> operators() const {
    std::vector<std::string> ops;
    for (const auto& node : graph.node()) ops.push_back(node.op_type());
    return ops;
  }
};

TEST(Scope, KeepsTheNodesThatANameDependsOn) {
  Listed nodes;
  nodes.add("Relu", {"a"}, {"y"}).add("Neg", {"x"}, {"dead"}).add("Add", {"x", "w"}, {"a"});
  Scope scope = nodes.scope();
  scope.need("y", "graph.output[0]");
  EXPECT_TRUE(scope.needs("a"));
  EXPECT_FALSE(scope.needs("dead"));
  EXPECT_EQ(scope.prune(), 1U);
  EXPECT_THAT(nodes.operators(), ElementsAre("Relu", "Add"));
  EXPECT_THAT(scope.used(), UnorderedElementsAre("x", "w"));
  EXPECT_THAT(scope.values(), UnorderedElementsAre("x", "w", "a", "y"));
  EXPECT_THAT(scope.wanted(), IsEmpty());
}

TEST(Scope, ReportsUndefinedNamesWithTheSiteOfAUser) {
  Listed nodes;
  nodes.add("Add", {"gone", ""}, {"a"}).add("Loop", {"a"}, {"y"});
  nodes.used_inside["Loop"] = {{"outer", "graph.node[1].attr.body.node[0]"}};
  Scope scope = nodes.scope();
  scope.need("y", "graph.output[0]");
  scope.need("nothing", "graph.output[1]");
  EXPECT_THAT(scope.wanted(), ElementsAre(Pair("gone", "graph.node[0]"), Pair("nothing", "graph.output[1]"),
                                          Pair("outer", "graph.node[1].attr.body.node[0]")));
}

TEST(Scope, EntersEachNeededNodeOnce) {
  Listed nodes;
  nodes.add("Neg", {"x"}, {"a"}).add("Add", {"a", "a"}, {"y"}).add("Abs", {"x"}, {"dead"});
  Scope scope = nodes.scope();
  scope.need("y", "graph.output[0]");
  scope.need("a", "graph.output[1]");
  EXPECT_THAT(nodes.entered, UnorderedElementsAre("Add", "Neg"));
}

TEST(Scope, RefusesTwoDefinitionsOfAName) {
  Listed twice;
  twice.add("Neg", {"x"}, {"y"}).add("Abs", {"x"}, {"y"});
  EXPECT_EQ(refusal_of([&] { twice.scope(); }), (ErrorContext{Code::onnx_graph_duplicate, "graph.node[1]"}));
  Listed given;
  given.add("Neg", {"x"}, {"w"});
  EXPECT_EQ(refusal_of([&] { given.scope(); }), (ErrorContext{Code::onnx_graph_duplicate, "graph.node[0]"}));
}

TEST(Scope, RefusesACycleAndListsItsNodes) {
  Listed ring;
  ring.add("Neg", {"c"}, {"a"}).add("Abs", {"a"}, {"b"}).add("Exp", {"b"}, {"c"});
  Scope scope = ring.scope();
  expect_error(
      error_of([&] { scope.need("a", "graph.output[0]"); }),
      {.code = Code::onnx_graph_cycle, .entry = "graph.node[0]", .says = {"through graph.node[1], graph.node[2]"}});
}

TEST(Scope, ListsAtMostTenNodesOfACycle) {
  const auto listed = [](int others) {
    Listed ring;
    ring.add("Neg", {"v" + std::to_string(others)}, {"v0"});
    for (int i = 0; i < others; ++i) ring.add("Neg", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
    Scope scope = ring.scope();
    const std::string message = error_of([&] { scope.need("v0", "graph.output[0]"); }).message();
    return std::ranges::count(message.substr(message.find("through")), '[');
  };
  EXPECT_EQ(listed(9), 9);
  EXPECT_EQ(listed(10), 10);
  EXPECT_EQ(listed(11), 10);
}

}  // namespace
}  // namespace onnxar::testing
