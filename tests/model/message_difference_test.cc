// Differences of two graphs: what belongs together, and the site and text of each change.
#include "model/message_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/differing.h"
#include "model/front_end.h"
#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

Message named(Message node, std::string_view name) {
  node.string(node_field::name, name);
  return node;
}

TEST_F(DiffTest, ALongNameIsNotCopiedIntoEachChangeBelowIt) {
  const std::string name(100'000, 'n');
  const auto with_dims = [&](std::int64_t dim) {
    return GraphParts{.outputs = {value_info(name, dtype::float32, Dims(500, dim))}};
  };
  const Difference difference = found(with_dims(1), with_dims(2));
  ASSERT_THAT(difference.graph, SizeIs(500));
  std::size_t text = 0;
  for (const GraphChange& change : difference.graph) {
    text += change.site.size() + change.name.size() + change.before.size() + change.after.size();
  }
  EXPECT_LE(text, 500U * 500);
}

TEST_F(DiffTest, NodesBelongTogetherByNameThenByOutputs) {
  const Message conv = named(node("Conv", {"x", "w"}, {"c"}, {attribute_ints("strides", {1, 1})}), "conv");
  const Message moved = named(node("Conv", {"x", "v"}, {"d"}, {attribute_ints("strides", {1, 2})}), "conv");
  const Difference difference = found({.nodes = {conv, node("Relu", {"c"}, {"r"}), node("Abs", {"r"}, {"gone"})}},
                                      {.nodes = {node("Neg", {"x"}, {"new"}), node("Relu", {"d"}, {"r"}), moved}});
  EXPECT_THAT(lines(difference),
              ElementsAre("changed graph.node[0].input conv: [\"x\",\"w\"] -> [\"x\",\"v\"]",
                          "changed graph.node[0].output conv: [\"c\"] -> [\"d\"]",
                          "changed graph.node[0].attr.strides.ints strides: [1,1] -> [1,2]",
                          "changed graph.node[1].input: [\"c\"] -> [\"d\"]",
                          "removed graph.node[2]: Abs(r) -> gone -> ", "added graph.node[0]:  -> Neg(x) -> new"));
}

TEST_F(DiffTest, FindsChangesAroundTheGraph) {
  const Message before = model({.ir_version = 8,
                                .graph = graph({.inputs = {value_info("x", dtype::float32, {1, 3})}}),
                                .opsets = {opset("", 17), opset("a", 1)},
                                .metadata = {string_entry("k", "v"), string_entry("gone", "")},
                                .functions = {function({.name = "F", .domain = "a", .inputs = {"p"}})}});
  const Message after = model({.ir_version = 9,
                               .graph = graph({.inputs = {value_info("x", dtype::float16, {2, 3})}}),
                               .opsets = {opset("a", 1), opset("ai.onnx", 18)},
                               .metadata = {string_entry("k", "w")},
                               .functions = {function({.name = "F", .domain = "a", .inputs = {"q"}})}});
  EXPECT_THAT(
      lines(found(before, after)),
      ElementsAre("changed ir_version: 8 -> 9", "changed graph.input[0].type.tensor_type.elem_type x: FLOAT -> FLOAT16",
                  "changed graph.input[0].type.tensor_type.shape.dim[0].dim_value x: 1 -> 2",
                  "changed opset_import[0].domain ai.onnx: \"\" -> \"ai.onnx\"",
                  "changed opset_import[0].version ai.onnx: 17 -> 18",
                  "changed metadata_props[0].value k: \"v\" -> \"w\"",
                  "removed metadata_props[1] gone: key: \"gone\" value: \"\" -> ",
                  "changed functions[0].input a.F: [\"p\"] -> [\"q\"]"));
}

TEST_F(DiffTest, OnlyTheOrderOfInputsCounts) {
  const Message x = value_info("x", dtype::float32, {1});
  const Message y = value_info("y", dtype::float32, {1});
  const Message first = node("Relu", {"x"}, {"a"});
  const Message second = node("Relu", {"y"}, {"b"});
  EXPECT_THAT(lines(found({.inputs = {x, y}}, {.inputs = {y, x}})),
              ElementsAre("changed graph.input: in this order -> in a different order"));
  EXPECT_TRUE(found({.nodes = {first, second}, .initializers = {floats("v", 300), floats("w", 300, 1)}},
                    {.nodes = {second, first}, .initializers = {floats("w", 300, 1), floats("v", 300)}})
                  .none());
}

TEST_F(DiffTest, MatchesRepeatedNamesInTheirOrder) {
  const auto twins = [](std::string_view op) {
    return GraphParts{.nodes = {named(node("Relu", {"x"}, {"a"}), "n"), named(node(op, {"x"}, {"b"}), "n")},
                      .initializers = {floats("w", 3), floats("w", 3, 1)}};
  };
  EXPECT_TRUE(found(twins("Abs"), twins("Abs")).none());
  EXPECT_THAT(lines(found(twins("Abs"), twins("Neg"))),
              ElementsAre("changed graph.node[1].op_type n: \"Abs\" -> \"Neg\""));
}

}  // namespace
}  // namespace onnxar::testing
