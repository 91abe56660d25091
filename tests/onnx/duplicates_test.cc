// Names that a graph defines more than once are found in each kind of graph, and once for each repetition.
#include "onnx/duplicates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "onnx/error_of.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Message named(std::string_view name) { return tensor(name, dtype::float32, {1}).raw_data(pattern(4)); }
Message sparse_named(std::string_view name) { return sparse_tensor(named(name), named("w"), {9}); }
Message op_node(const Names& outputs, const Messages& attributes = {}) { return node("Op", {}, outputs, attributes); }

/// The sites of all repeated definitions.
std::vector<std::string> redefinitions(const Message& model) {
  std::vector<std::string> found;
  onnx::walk_graphs(model.view(), [&](std::span<const onnx::Level> graph) {
    onnx::find_redefinitions(
        model.view(), graph.back(), [&](std::string_view name, const onnx::Level& by, onnx::Range) {
          found.push_back(onnx::path_of(std::array{by}, onnx::path_of(graph)) + " " + std::string(name));
        });
  });
  return found;
}

/// The sites of all tensors that must stay where they are.
std::vector<std::string> kept(const Message& model) {
  std::vector<std::string> found;
  onnx::DuplicateNames duplicates;
  onnx::walk_tensors(model.view(), [&](const onnx::TensorSite& site) {
    if (duplicates.has(site)) found.push_back(site.path());
  });
  return found;
}

Message graph_of(const GraphParts& parts) { return model({.graph = graph(parts)}); }

TEST(Duplicates, FindsSecondInitializerOfAName) {
  const Message twice = graph_of({.initializers = {named("w"), named("v"), named("w"), named("w")}});
  EXPECT_THAT(redefinitions(twice), ElementsAre("graph.initializer[2] w", "graph.initializer[3] w"));
  EXPECT_THAT(kept(twice), ElementsAre("graph.initializer[0]", "graph.initializer[2]", "graph.initializer[3]"));
}

TEST(Duplicates, SparseInitializersWithoutValuesHaveNoName) {
  const Message empty = graph_of({.sparse_initializers = {Message(), Message()}});
  EXPECT_THAT(redefinitions(empty), IsEmpty());
}

TEST(Duplicates, SparseInitializersHaveTheNameOfTheirValues) {
  const Message twice =
      graph_of({.initializers = {named("w")}, .sparse_initializers = {sparse_named("w"), sparse_named("v")}});
  EXPECT_THAT(redefinitions(twice), ElementsAre("graph.sparse_initializer[0] w"));
  EXPECT_THAT(kept(twice), ElementsAre("graph.initializer[0]", "graph.sparse_initializer[0].values"));
}

TEST(Duplicates, OutputsOfNodesDefineNames) {
  const Message twice = graph_of({.nodes = {op_node({"a", ""}), op_node({"", "b", "b"}), constant("w", named("value")),
                                            constant("v", named("value"))},
                                  .initializers = {named("w"), named("a")}});
  EXPECT_THAT(redefinitions(twice), ElementsAre("graph.node[1] b", "graph.initializer[0] w", "graph.initializer[1] a"));
  EXPECT_THAT(kept(twice), ElementsAre("graph.node[2].attr.value", "graph.initializer[0]"));
}

TEST(Duplicates, RuntimesRefuseOtherNodesWhereverDataIs) {
  EXPECT_THAT(kept(graph_of({.nodes = {op_node({"w"})}, .initializers = {named("w"), named("w")}})), IsEmpty());
}

// ONNX Runtime makes an initializer of every node with this operator.
TEST(Duplicates, ConstantOfAnotherDomainCounts) {
  const Message foreign = constant("w", named("value")).string(7, "other");
  EXPECT_THAT(kept(graph_of({.nodes = {foreign}, .initializers = {named("w")}})),
              ElementsAre("graph.node[0].attr.value", "graph.initializer[0]"));
}

TEST(Duplicates, FieldsOfInitializersAreNoOutputs) {
  const Message odd = Message(named("w")).string(node_field::output, "w");
  EXPECT_THAT(kept(graph_of({.initializers = {odd, odd}})),
              ElementsAre("graph.initializer[0]", "graph.initializer[1]"));
}

TEST(Duplicates, NumbersForMessagesDefineNothing) {
  const Message numbers = Message().varint(graph_field::initializer, 7).varint(graph_field::initializer, 7);
  EXPECT_THAT(redefinitions(model({.graph = numbers})), IsEmpty());
  const Message node = Message().varint(node_field::output, 7);
  EXPECT_THAT(redefinitions(graph_of({.nodes = {node, node}})), IsEmpty());
  const Message sparse = Message(sparse_named("w")).varint(1, 7);
  EXPECT_THAT(kept(graph_of({.initializers = {named("w")}, .sparse_initializers = {sparse}})),
              ElementsAre("graph.initializer[0]", "graph.sparse_initializer[0].values"));
}

TEST(Duplicates, EachOutputOfAConstantCounts) {
  const Message two = node("Constant", {}, {"w", "v"}, {attribute_t("value", named("x"))});
  EXPECT_THAT(kept(graph_of({.nodes = {two}, .initializers = {named("w")}})),
              ElementsAre("graph.node[0].attr.value", "graph.initializer[0]"));
}

TEST(Duplicates, InitializersWithoutNamesMayMove) {
  const Message nameless = graph_of({.nodes = {op_node({""})}, .initializers = {named(""), named("")}});
  EXPECT_THAT(redefinitions(nameless), ElementsAre("graph.initializer[1] "));
  EXPECT_THAT(kept(nameless), IsEmpty());
}

TEST(Duplicates, EachGraphHasNamesOfItsOwn) {
  const Message inner = graph({.initializers = {named("w")}});
  EXPECT_THAT(kept(graph_of(
                  {.nodes = {op_node({"y"}, {attribute_graphs("g", {inner, inner})})}, .initializers = {named("w")}})),
              IsEmpty());
  const Message twice = graph({.initializers = {named("w"), named("w")}});
  const Message outer = graph_of({.nodes = {op_node({"y"}, {attribute_g("g", twice)}), constant("z", named("w"))},
                                  .initializers = {named("w"), named("z")}});
  EXPECT_THAT(redefinitions(outer), ElementsAre("graph.initializer[1] z", "graph.node[0].attr.g.initializer[1] w"));
  EXPECT_THAT(kept(outer), ElementsAre("graph.node[0].attr.g.initializer[0]", "graph.node[0].attr.g.initializer[1]",
                                       "graph.node[1].attr.value", "graph.initializer[1]"));
}

TEST(Duplicates, FunctionsAndTrainingGraphsAreSearched) {
  const Message body = function({.nodes = {constant("c", named("v")), constant("c", named("v"))},
                                 .attribute_protos = {attribute_t("c", named("c"))}});
  const Message twice = graph({.initializers = {named("w"), named("w")}});
  const Message all = model({.graph = graph({}), .functions = {body}, .training = {training_info(twice, twice)}});
  EXPECT_THAT(redefinitions(all), ::testing::UnorderedElementsAre("functions[0].node[1] c",
                                                                  "training_info[0].initialization.initializer[1] w",
                                                                  "training_info[0].algorithm.initializer[1] w"));
  EXPECT_THAT(kept(all), ::testing::SizeIs(6));
}

TEST(Duplicates, DamagedGraphHasNone) {
  const Message torn = Message(graph({.initializers = {named("w"), named("w")}})).raw(blob("\xff"));
  const Message whole = model({.graph = torn});
  std::size_t tensors = 0;
  onnx::DuplicateNames duplicates;
  const auto visit = [&](const onnx::TensorSite& site) {
    ++tensors;
    EXPECT_FALSE(duplicates.has(site)) << site.path();
  };
  EXPECT_EQ(error_of([&] { onnx::walk_tensors(whole.view(), visit); }).code(), Code::wire_truncated);
  EXPECT_EQ(tensors, 2U);
}

TEST(Duplicates, AnInputMayHaveTheNameOfAnInitializer) {
  EXPECT_THAT(kept(graph_of({.initializers = {named("w")}, .inputs = {value_info("w", dtype::float32, {1})}})),
              IsEmpty());
}

TEST(Duplicates, ReadsANodeOfManyTensorsOnce) {
  // Without the memory this takes minutes: every tensor would read all of its node again.
  const Messages many(50'000, named("x"));
  EXPECT_THAT(kept(graph_of({.nodes = {node("Constant", {}, {"w"}, {attribute_tensors("many", many)})},
                             .initializers = {named("w")}})),
              ::testing::SizeIs(50'001));
}

}  // namespace
}  // namespace onnxar::testing
