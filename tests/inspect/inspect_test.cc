// Tests what `show` finds in models of each form.
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <string>

#include "inspect/inspecting.h"
#include "inspect/inspection.h"
#include "model/front_end.h"
#include "onnxar/convert.h"
#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(OpName, OmitsDefaultDomain) {
  EXPECT_EQ(op_name("com.example", "Attention"), "com.example.Attention");
  EXPECT_EQ(op_name("", "Add"), "Add");
  EXPECT_EQ(op_name("ai.onnx", "Add"), "Add");
}

TEST_F(InspectTest, CountsMultiplyAddsAndDepthOfAProduct) {
  const Inspection found = inspected(graph_of({node("MatMul", {"x", "w"}, {"y"}), node("Relu", {"y"}, {"z"})},
                                              {weight("w", {3, 5})}, {value_info("x", dtype::float32, {2, 3})}));
  EXPECT_EQ(found.cost.multiply_adds, 30U);
  EXPECT_EQ(found.graph.depth, 2U);
  EXPECT_THAT(found.cost.not_known, IsEmpty());
}

TEST_F(InspectTest, NodesOfSubgraphsFollowTheirNodeWithTheirSites) {
  const Message body = graph({.nodes = {node("Relu", {"x"}, {"y"})}});
  const Inspection found = inspected(graph_of({node("Loop", {"x"}, {"z"}, {attribute_g("body", body)})}), true);
  ASSERT_THAT(found.nodes, SizeIs(2));
  EXPECT_EQ(found.nodes[1].site, "graph.node[0].attr.body.node[0]");
  EXPECT_EQ(found.nodes[1].level, 1U);
  EXPECT_EQ(found.nodes[0].attributes.front().second, "graph \"g\"");
}

TEST_F(InspectTest, AttributesOfACallReachTheBodyOfItsFunction) {
  Message by_reference = Message().string(1, "transB");
  by_reference.string(21, "turned").varint(20, 2);
  const Message called = function({.name = "F",
                                   .domain = "f",
                                   .inputs = {"a", "b"},
                                   .outputs = {"c"},
                                   .nodes = {node("Gemm", {"a", "b"}, {"c"}, {by_reference})}});
  const auto cost_of = [&](std::int64_t turned, const Dims& dims) {
    const Message call = node("F", {"x", "w"}, {"y"}, {attribute_i("turned", turned)}, "f");
    const Message last = node("MatMul", {"y", "v"}, {"z"});
    return inspected(model({.graph = graph({.nodes = {call, last},
                                            .initializers = {weight("w", dims), weight("v", {7, 1})},
                                            .inputs = {value_info("x", dtype::float32, {2, 3})}}),
                            .functions = {called}}))
        .cost.multiply_adds;
  };
  EXPECT_EQ(cost_of(0, {3, 7}), 2U * 3 * 7 + 2 * 7);
  EXPECT_EQ(cost_of(1, {7, 3}), 2U * 3 * 7 + 2 * 7);
}

TEST_F(InspectTest, ShapesBeyondAllReasonWrapNothing) {
  constexpr std::int64_t huge = INT64_MAX;
  const Message input = value_info("x", dtype::float32, {huge, huge, huge, huge});
  const Message input_2d = value_info("a", dtype::float32, {huge, huge});
  for (const Message& suspect :
       {node("MatMul", {"x", "x"}, {"y"}),
        node("Conv", {"x", "x"}, {"y"}, {attribute_ints("pads", {huge, huge, huge, huge})}),
        node("ConvTranspose", {"x", "x"}, {"y"}, {attribute_ints("strides", {huge, huge}), attribute_i("group", huge)}),
        node("Gemm", {"a", "a"}, {"y"}), node("Flatten", {"x"}, {"y"}, {attribute_i("axis", 2)}),
        node("Concat", {"x", "x"}, {"y"}, {attribute_i("axis", 0)}), node("Split", {"x"}, {"y", "y2"}),
        node("MaxPool", {"x"}, {"y"},
             {attribute_ints("kernel_shape", {-huge, huge}), attribute_ints("dilations", {huge, -huge})}),
        node("Slice", {"x"}, {"y"}, {attribute_ints("starts", {-huge}), attribute_ints("ends", {huge})}),
        node("Pad", {"x"}, {"y"}, {attribute_ints("pads", {huge, huge, huge, huge, huge, huge, huge, huge})}),
        node("Transpose", {"x"}, {"y"}, {attribute_ints("perm", {9, -9, huge, 0})}),
        node("Unsqueeze", {"x"}, {"y"}, {attribute_ints("axes", {huge, -huge, 0, 0})}),
        node("Shape", {"x"}, {"y"}, {attribute_i("start", -huge), attribute_i("end", huge)})}) {
    const Message after = node("MatMul", {"y", "y"}, {"z"});
    EXPECT_NO_THROW(static_cast<void>(inspected(graph_of({suspect, after}, {}, {input, input_2d}))));
  }
}

void expect_blocks_cover_the_file(const Inspection& found) {
  for (const FileMap& map : found.files) {
    std::uint64_t end = 0;
    for (const FileBlock& block : map.blocks) {
      EXPECT_EQ(block.offset, end) << block.name;
      end += block.size;
    }
    EXPECT_EQ(end, map.size) << map.path;
  }
}

/// All vectors of the specification, good and broken.
TEST_F(InspectTest, VectorsAreLookedIntoOrRefusedWithTheirPath) {
  std::size_t looked_into = 0;
  std::size_t refused = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(ONNXAR_SOURCE_DIR) / "spec/vectors")) {
    if (entry.path().extension() != ".onnxar") continue;
    SCOPED_TRACE(entry.path());
    InspectOptions options;
    options.nodes = options.files = true;
    const auto look = [&] {
      expect_blocks_cover_the_file(onnxar::show(entry.path(), options));
      ++looked_into;
    };
    const auto print = [&] { onnxar::dump(entry.path(), [](Bytes) {}); };
    const auto take_out = [&] {
      extract(entry.path(), "*", folder_ / "out/", {.output = {.overwrite = true, .sync = false}});
    };
    for (const std::function<void()>& action :
         {std::function<void()>(look), std::function<void()>(print), std::function<void()>(take_out)}) {
      try {
        action();
      } catch (const Error& error) {
        EXPECT_EQ(error.path(), entry.path()) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(looked_into, 50U);
  EXPECT_GT(refused, 500U);
}

// --- models of other makers ------------------------------------------------------------------------------------------

std::string text_with_data(const std::filesystem::path& path, TextReport& report) {
  std::string text;
  report = onnxar::dump(path, [&text](Bytes piece) { text += as_text(piece); }, {.with_data = true});
  return text;
}

/// Text, packed, equals the packed model byte for byte, unless a remark reports a loss.
bool expect_text_packs_alike(const std::filesystem::path& path, const TempDir& folder) {
  TextReport report;
  const std::string text = text_with_data(path, report);
  const Blob bytes = text_parser()(as_bytes(text));
  SaveOptions save = saved_as(Format::archive, over_existing);
  save.threshold = 0;
  pack_or_unpack(path, folder / "expected", save);
  pack_or_unpack(bytes, folder / "found", save);
  if (!report.remarks.empty()) return false;
  EXPECT_EQ(folder.read_file("found"), folder.read_file("expected"));
  return true;
}

/// Extracts every tensor by its site, and returns their number.
std::size_t expect_all_extracted(const std::filesystem::path& path, const TempDir& folder) {
  ExtractOptions options = {.output = {.overwrite = true, .sync = false}};
  Model model = Model::load(path);
  std::size_t written = 0;
  for_each_tensor(model.proto(), [&](schema::TensorProto& tensor, const TensorInfo& info) {
    if (info.type == DataType::string) return;
    const auto rows = extract(path, info.site, folder / "tensor", options);
    EXPECT_EQ(rows.front().tensor.site, info.site);
    options.raw = true;
    extract(path, info.site, folder / "raw", options);
    options.raw = false;
    EXPECT_EQ(folder.read_file("raw"), copied(model.payload(tensor))) << info.site;
    ++written;
  });
  return written;
}

TEST(InspectTestdataSlow, EveryModelIsShownDumpedAndExtracted) {
  const std::vector<std::filesystem::path> models = onnx_test_models();
  if (models.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  const TempDir folder;
  std::size_t alike = 0;
  std::size_t tensors = 0;
  for (const std::filesystem::path& path : models) {
    SCOPED_TRACE(path);
    InspectOptions options;
    options.nodes = options.files = true;
    const Inspection found = onnxar::show(path, options);
    EXPECT_EQ(found.nodes.size(), found.graph.all_nodes);
    EXPECT_THAT(found.graph.cycle, IsEmpty());
    expect_blocks_cover_the_file(found);
    alike += expect_text_packs_alike(path, folder) ? 1U : 0U;
    tensors += expect_all_extracted(path, folder);
  }
  EXPECT_GT(models.size(), 1000U);
  EXPECT_GT(alike, 1000U);
  EXPECT_GT(tensors, 350U);
}

}  // namespace
}  // namespace onnxar::testing
