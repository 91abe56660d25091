// What the outputs of a graph need stays, and nothing else; a graph that lacks something is refused at its site.
#include "model/prune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>

#include "model/freezing.h"
#include "model/front_end.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::SizeIs;

TEST_F(FreezeTest, RemainingTensorsKeepTheirPayload) {
  Model model = loaded({.nodes = {node("Neg", {"v"}, {"dead"}), node("Relu", {"w"}, {"y"})},
                        .initializers = {floats("v", 300), floats("w", 300, 1)},
                        .outputs = {output("y")}});
  const std::byte* const before = model.span(initializer(model, 1)).bytes().data();
  const FreezeReport report = freeze(model);
  EXPECT_EQ(report.nodes, 1U);
  EXPECT_EQ(report.initializers, 1U);
  ASSERT_THAT(model.proto().graph().initializer(), SizeIs(1));
  EXPECT_EQ(model.span(initializer(model, 0)).bytes().data(), before);
  EXPECT_EQ(model.release_unused_payloads(), 1U);
}

TEST_F(FreezeTest, AnInitializerThatIsAnOutputStays) {
  Model model = loaded({.initializers = {floats("w", 300), floats("v", 300)}, .outputs = {output("w")}});
  freeze(model);
  ASSERT_THAT(model.proto().graph().initializer(), SizeIs(1));
  EXPECT_EQ(initializer(model, 0).name(), "w");
}

TEST_F(FreezeTest, KeepsTheOrderOfUnsortedNodes) {
  Model model = loaded({.nodes = {node("Relu", {"a"}, {"y"}), node("Neg", {"a"}, {"dead"}), node("Abs", {"w"}, {"a"})},
                        .initializers = {floats("w", 300)},
                        .outputs = {output("y")}});
  freeze(model);
  ASSERT_THAT(model.proto().graph().node(), SizeIs(2));
  EXPECT_EQ(model.proto().graph().node(0).op_type(), "Relu");
  EXPECT_EQ(model.proto().graph().node(1).op_type(), "Abs");
}

TEST_F(FreezeTest, QuantizationOfALiveValueIsKept) {
  Model model = loaded({.nodes = {node("Relu", {"x"}, {"y"})},
                        .initializers = {floats("scale", 1), floats("other", 1)},
                        .inputs = {output("x")},
                        .outputs = {output("y")}});
  for (const auto& [value, scale] : {std::pair("y", "scale"), std::pair("gone", "other")}) {
    auto* annotation = model.proto().mutable_graph()->add_quantization_annotation();
    annotation->set_tensor_name(value);
    auto* parameter = annotation->add_quant_parameter_tensor_names();
    parameter->set_key("SCALE_TENSOR");
    parameter->set_value(scale);
  }
  freeze(model);
  EXPECT_THAT(model.proto().graph().quantization_annotation(), SizeIs(1));
  ASSERT_THAT(model.proto().graph().initializer(), SizeIs(1));
  EXPECT_EQ(initializer(model, 0).name(), "scale");
}

TEST_F(FreezeTest, LongChainsDoNotOverflowTheStack) {
  Messages nodes;
  for (int i = 100000; i > 0; --i) {
    nodes.push_back(node("Neg", {"n" + std::to_string(i - 1)}, {"n" + std::to_string(i)}));
  }
  Model model = loaded({.nodes = nodes, .inputs = {output("n0")}, .outputs = {output("n100000")}});
  EXPECT_EQ(freeze(model).nodes, 0U);
}

TEST_F(FreezeTest, RefusalsNameTheirSite) {
  const Message y = output("y");
  EXPECT_EQ(refusal({.nodes = {node("Add", {"y"}, {"y"})}, .outputs = {y}}),
            (ErrorContext{Code::onnx_graph_cycle, "graph.node[0]"}));
  EXPECT_EQ(refusal({.outputs = {y}}), (ErrorContext{Code::onnx_graph_dangling, "graph.output[0]"}));
  const Message body = graph({.nodes = {node("Neg", {"gone"}, {"b"})}, .outputs = {output("b")}});
  EXPECT_EQ(refusal({.nodes = {node("Loop", {}, {"y"}, {attribute_g("body", body)})}, .outputs = {y}}),
            (ErrorContext{Code::onnx_graph_dangling, "graph.node[0].attr.body.node[0]"}));
  EXPECT_EQ(refusal({.initializers = {floats("unused", 3), tensor("y", dtype::float32, {300})}, .outputs = {y}}),
            (ErrorContext{Code::onnx_tensor_no_data, "graph.initializer[1]"}));
  EXPECT_EQ(refusal({.initializers = {floats("y", 3), floats("y", 3)}, .outputs = {y}}),
            (ErrorContext{Code::onnx_graph_duplicate, "graph.initializer[1]"}));
  const Message itself =
      function({.name = "F", .domain = "f", .outputs = {"b"}, .nodes = {node("F", {}, {"b"}, {}, "f")}});
  EXPECT_EQ(refusal(model(
                {.graph = graph({.nodes = {node("F", {}, {"y"}, {}, "f")}, .outputs = {y}}), .functions = {itself}})),
            (ErrorContext{Code::onnx_graph_cycle, "functions[0]"}));
}

TEST_F(FreezeTest, KeepsWhatDefaultGraphsOfFunctionsUse) {
  const Message body = graph({.nodes = {node("Inner", {"s"}, {"b"}, {}, "f")}, .outputs = {output("b")}});
  const Message outer = function({.name = "Outer",
                                  .domain = "f",
                                  .inputs = {"a"},
                                  .outputs = {"y"},
                                  .nodes = {node("Neg", {"a"}, {"s"}), node("Abs", {"a"}, {"y"})},
                                  .attribute_protos = {attribute_g("body", body)}});
  const Message inner = function(
      {.name = "Inner", .domain = "f", .inputs = {"a"}, .outputs = {"b"}, .nodes = {node("Exp", {"a"}, {"b"})}});
  Model model = loaded(testing::model(
      {.graph =
           graph({.nodes = {node("Outer", {"x"}, {"y"}, {}, "f")}, .inputs = {output("x")}, .outputs = {output("y")}}),
       .functions = {outer, inner}}));
  const FreezeReport report = freeze(model);
  EXPECT_EQ(report.functions, 0U);
  EXPECT_EQ(report.nodes, 0U);
}

}  // namespace
}  // namespace onnxar::testing
