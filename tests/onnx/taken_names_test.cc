// Which names nodes take from the main graph, whose data a runtime therefore accepts.
#include "onnx/taken_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// In ascending order.
std::vector<std::string> taken_in(const Message& model) {
  const auto names = onnx::taken_names(model.view());
  std::vector<std::string> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  return sorted;
}

Message with_body(const Message& body) { return model({.graph = graph({.nodes = {node("Loop", {}, {}, {body})}})}); }

TEST(TakenNames, AreInputsOfTheNodesOfTheMainGraph) {
  const Message tensor = testing::tensor("unused", dtype::uint8, {1});
  const Message main = graph({.nodes = {node("Add", {"b", "a"}, {"c"}), node("Neg", {"c"}, {"d"})},
                              .initializers = {tensor},
                              .inputs = {value_info("x", dtype::uint8, {1})},
                              .outputs = {value_info("y", dtype::uint8, {1})}});
  EXPECT_THAT(taken_in(model({.graph = main})), ElementsAre("a", "b", "c"));
}

TEST(TakenNames, AreThoseOfSubgraphsThatNoSubgraphDefines) {
  const Message values = testing::tensor("sparse", dtype::uint8, {1});
  const Message indices = testing::tensor("indices", dtype::int64, {1});
  const Message body = graph({.nodes = {node("Sum", {"outer", "output", "initializer", "input", "sparse"}, {"output"})},
                              .initializers = {testing::tensor("initializer", dtype::uint8, {1})},
                              .sparse_initializers = {sparse_tensor(values, indices, {1})},
                              .inputs = {value_info("input", dtype::uint8, {1})}});
  EXPECT_THAT(taken_in(with_body(attribute_g("body", body))), ElementsAre("outer"));
  const Message user = graph({.nodes = {node("Neg", {"initializer"}, {"y"})}});
  EXPECT_THAT(taken_in(with_body(attribute_graphs("bodies", {user, body}))), ElementsAre("outer"));
  EXPECT_THAT(taken_in(with_body(attribute_g("body", user))), ElementsAre("initializer"));
}

TEST(TakenNames, NamesOfIndicesDefineNothing) {
  const Message sparse =
      sparse_tensor(testing::tensor("sparse", dtype::uint8, {1}), testing::tensor("outer", dtype::int64, {1}), {1});
  const Message body = graph({.nodes = {node("Neg", {"outer"}, {"y"})}, .sparse_initializers = {sparse}});
  EXPECT_THAT(taken_in(with_body(attribute_g("body", body))), ElementsAre("outer"));
}

TEST(TakenNames, NumberForSparseValuesDefinesNothing) {
  const Message body =
      graph({.nodes = {node("Neg", {"outer"}, {"y"})}, .sparse_initializers = {Message().varint(1, 7)}});
  EXPECT_THAT(taken_in(with_body(attribute_g("body", body))), ElementsAre("outer"));
}

TEST(TakenNames, WhatASubgraphDefinesIsTakenByTheMainGraph) {
  const Message body = graph({.nodes = {node("Neg", {"a"}, {"a"})}});
  const Message user = node("Loop", {"a"}, {"b"}, {attribute_g("body", body)});
  EXPECT_THAT(taken_in(model({.graph = graph({.nodes = {user}})})), ElementsAre("a"));
}

TEST(TakenNames, AreNotThoseOfFunctionsAndTraining) {
  const Messages nodes = {node("Neg", {"a"}, {"b"})};
  EXPECT_THAT(taken_in(model({.graph = graph({}),
                              .functions = {function({.nodes = nodes})},
                              .training = {training_info(graph({.nodes = nodes}), graph({.nodes = nodes}))}})),
              IsEmpty());
}

TEST(TakenNames, FieldsOfOtherWireTypesHaveNone) {
  const Message numbers = Message().varint(graph_field::node, 7).varint(graph_field::input, 7);
  const Message nodes = Message().message(graph_field::node, Message().varint(node_field::input, 7));
  const Message named = Message().message(graph_field::node, node("Neg", {"a"}, {"b"}));
  EXPECT_THAT(taken_in(model({.graph = Message().raw(numbers).raw(nodes).raw(named)})), ElementsAre("a"));
}

}  // namespace
}  // namespace onnxar::testing
