// Tests putting weights into a graph.
#include <gmock/gmock.h>

#include <string>

#include "model/freezing.h"
#include "model/front_end.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::SizeIs;

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

// Before IR version 4, each initializer must be an input, too (onnx.proto, IRVersion).
TEST_F(FreezeTest, KeepsFilledInputsBeforeIrVersion4) {
  const auto weights = folder_.write_file("weights", model_of({floats("w", 300)}).view());
  for (const std::int64_t version : {3, 4}) {
    const Message parts = graph({.inputs = {output("w")}, .outputs = {output("w")}});
    Model open = loaded(model({.ir_version = version, .graph = parts}));
    EXPECT_EQ(freeze(open, {.weights = weights}).filled, 1U);
    EXPECT_THAT(open.proto().graph().initializer(), SizeIs(1));
    EXPECT_THAT(open.proto().graph().input(), SizeIs(version == 3 ? 1 : 0)) << version;
  }
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
