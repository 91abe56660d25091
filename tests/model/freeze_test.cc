// Tests putting weights into a graph.
#include <gmock/gmock.h>

#include <string>

#include "model/front_end.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::SizeIs;

Message output(std::string_view name) { return value_info(name, dtype::float32, {300}); }

class FreezeTest : public ::testing::Test {
 protected:
  Model loaded(const Message& model) { return Model::load(folder_.write_file("m", model.view())); }
  Model loaded(const GraphParts& parts) { return loaded(model({.graph = graph(parts)})); }
  ErrorContext refusal(const Message& model) {
    Model bad = loaded(model);
    return refusal_of([&] { return freeze(bad); }).value();
  }
  ErrorContext refusal(const GraphParts& parts) { return refusal(model({.graph = graph(parts)})); }

  TempDir folder_;
};

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

TEST_F(FreezeTest, LargeWeightsAreViewsAndSmallOnesAreCopied) {
  for (const std::size_t count : {3000U, 64U}) {
    const FreezeOptions options = {.weights = folder_.write_file("weights", model_of({floats("w", count, 7)}).view())};
    Model model = loaded(
        {.initializers = {tensor("w", dtype::float32, {static_cast<std::int64_t>(count)})}, .outputs = {output("w")}});
    EXPECT_EQ(freeze(model, options).filled, 1U);
    const ByteSpan payload = model.payload(initializer(model, 0));
    if (count == 3000) {
      EXPECT_FALSE(payload.owned());
    }
    EXPECT_EQ(copied(payload), pattern(4 * count, 7));
  }
}

TEST_F(FreezeTest, DoesNotFillInputWithSparseDefault) {
  const Message values = floats("s", 1), indices = tensor("", dtype::int64, {1}).int64_data({1});
  Model model = loaded({.nodes = {node("Add", {"x", "s"}, {"y"})},
                        .sparse_initializers = {sparse_tensor(values, indices, {300})},
                        .inputs = {output("x"), output("s")},
                        .outputs = {output("y")}});
  const auto weights = folder_.write_file("weights", model_of({floats("x", 300), floats("s", 300)}).view());
  const FreezeReport report = freeze(model, {.weights = weights});
  EXPECT_EQ(report.filled, 1U);
  EXPECT_EQ(report.surplus, std::vector<std::string>{"s"});
  EXPECT_THAT(model.proto().graph().sparse_initializer(), SizeIs(1));
}

TEST_F(FreezeTest, RefusesDamagedWeightsOfOtherFiles) {
  const auto freeze_with = [this](const std::filesystem::path& weights) {
    const auto open = model({.graph = graph({.initializers = {tensor("w", dtype::float32, {3000})},
                                             .outputs = {value_info("w", dtype::float32, {3000})}})});
    const FreezeOptions options = {.weights = weights};
    freeze(folder_.write_file("open.onnx", open.view()), folder_ / "out", saved_as(Format::archive), options);
  };
  Built built = archive_of(model_of({linked_floats("w", 3000, "w")}), {zip_entry("w", pattern(12'000))});
  flip_bit(built.bytes, built.entry("w").data_offset + 5);
  const auto archive = folder_.write_file("weights.onnxar", built.bytes);
  EXPECT_EQ(code_of([&] { freeze_with(archive); }), Code::zip_data_crc);
  folder_.write_file("w.bin", pattern(12'000));
  const auto summed = linked_floats("w", 3000, "w.bin").external_data("checksum", std::string(40, '0'));
  const auto plain = folder_.write_file("weights.onnx", model_of({summed}).view());
  EXPECT_EQ(code_of([&] { freeze_with(plain); }), Code::onnx_external_checksum);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST(FreezeTestdataSlow, ModelsOfOnnxNeedAllThatTheyHave) {
  const std::vector<std::filesystem::path> models = onnx_test_models();
  if (models.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  const TempDir folder;
  std::size_t same = 0;
  for (const std::filesystem::path& path : models) {
    SCOPED_TRACE(path);
    const FreezeReport report = freeze(path, folder / "m", saved_as(Format::onnx_inline, over_existing));
    same += diff(path, folder / "m").none() ? 1U : 0U;
    EXPECT_EQ(report.training_infos, 0U);
  }
  EXPECT_GT(same, 1000U);
}

}  // namespace
}  // namespace onnxar::testing
