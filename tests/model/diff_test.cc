// Tests which differences between two models are found.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "model/differing.h"
#include "model/front_end.h"
#include "onnx/error_of.h"
#include "onnxar/convert.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(DiffTest, ComparesSharedBytesAndRefusesOverlap) {
  const auto linked = [](std::uint64_t step, const char* file) {
    Messages tensors;
    for (std::uint64_t i = 0; i < 50; ++i) {
      tensors.push_back(linked_floats("t" + std::to_string(i), 10'000, file, step * i));
    }
    return model_of(tensors);
  };
  Blob other = pattern(41'000);
  other[4] ^= std::byte{1};
  folder_.write_file("a.bin", pattern(41'000));
  folder_.write_file("b.bin", other);
  const Difference difference = found(linked(0, "a.bin"), linked(0, "b.bin"));
  ASSERT_THAT(difference.tensors, SizeIs(50));
  EXPECT_EQ(difference.tensors.back().data->first, 1U);
  const auto overlap = [&] { static_cast<void>(found(linked(4, "a.bin"), linked(4, "b.bin"))); };
  EXPECT_EQ(code_of(overlap), Code::onnx_model_expansion);
}

TEST_F(DiffTest, AModelIsTheSameAsItselfInEveryForm) {
  const Message whole = model({.graph = graph({.nodes = {node("Relu", {"w"}, {"y"})},
                                               .initializers = {floats("w", 3000), floats("small", 3, 1)},
                                               .outputs = {value_info("y", dtype::float32, {3000})}}),
                               .metadata = {string_entry("key", "value")}});
  const auto path = folder_.write_file("m.onnx", whole.view());
  pack(path, folder_ / "m.onnxar", saved_as(Format::archive));
  unpack(path, folder_ / "e.onnx", saved_as(Format::onnx_external));
  for (const char* const other : {"m.onnx", "m.onnxar", "e.onnx"}) {
    const Difference difference = diff(path, folder_ / other);
    EXPECT_TRUE(difference.none()) << other;
    EXPECT_EQ(difference.compared, 2U);
  }
}

TEST_F(DiffTest, OneFlippedBitIsFoundInItsPlace) {
  const Message whole = model_of({floats("v", 70000), floats("w", 70000, 1)});
  Blob bytes = whole.view();
  const Blob weight = pattern(280000, 1);
  const auto at = std::search(bytes.begin(), bytes.end(), weight.begin(), weight.end()) - bytes.begin();
  bytes.at(static_cast<std::size_t>(at) + std::size_t{4} * 65432) ^= std::byte{1};
  folder_.write_file("m.onnx", whole.view());
  folder_.write_file("n.onnx", bytes);
  for (const char* const name : {"m", "n"})
    pack(folder_ / (std::string(name) + ".onnx"), folder_ / name, saved_as(Format::archive));
  const Difference difference = diff(folder_ / "m", folder_ / "n");
  EXPECT_THAT(difference.graph, IsEmpty());
  ASSERT_THAT(difference.tensors, SizeIs(1));
  EXPECT_EQ(difference.tensors[0].before->name, "w");
  EXPECT_EQ(difference.tensors[0].site, "graph.initializer[1]");
  ASSERT_TRUE(difference.tensors[0].data);
  EXPECT_EQ(difference.tensors[0].data->elements, 70000U);
  EXPECT_EQ(difference.tensors[0].data->differing, 1U);
  EXPECT_EQ(difference.tensors[0].data->first, 65432U);
}

TEST_F(DiffTest, DamagedDataIsNotADifference) {
  const Message weight = linked_floats("w", 300, "w");
  const Built whole = archive_of(model_of({weight, linked_floats("v", 300, "v")}),
                                 {zip_entry("v", pattern(1200, 3)), zip_entry("w", pattern(1200)),
                                  zip_entry("a.json", blob("{}")), zip_entry("g.onnx", model_of({weight}).view())});
  const auto path = folder_.write_file("whole", whole.bytes);
  for (const std::string_view entry :
       {std::string_view("v"), std::string_view("w"), std::string_view("a.json"), model_entry}) {
    Blob bytes = whole.bytes;
    flip_bit(bytes, whole.entry(entry).data_offset + whole.data_of(entry).size() - 1);
    const auto damaged = folder_.write_file("damaged", bytes);
    for (const auto& [before, after] : {std::pair(path, damaged), std::pair(damaged, path)}) {
      expect_error(error_of([&] { static_cast<void>(diff(before, after)); }),
                   {.code = Code::zip_data_crc, .entry = entry, .path = damaged});
    }
    if (entry == model_entry) continue;  // a damaged model is not loaded
    EXPECT_TRUE(diff(damaged, damaged).none()) << entry;
  }
  Blob bytes = whole.bytes;
  flip_bit(bytes, whole.entry("w").data_offset);
  const auto damaged = folder_.write_file("damaged", bytes);
  const auto graph = folder_.write_file("graph", model_of({floats("w", 300)}).view());
  LoadOptions load;
  load.graph = "g";
  EXPECT_EQ(code_of([&] { return diff(damaged, graph, load).none(); }), Code::zip_data_crc);
}

TEST_F(DiffTest, ReplacedModelDiffersOnlyInItsGraph) {
  const auto with_op = [this](std::string_view name, std::string_view op) {
    return folder_.write_file(
        name, model({.graph = graph({.nodes = {node(op, {"w"}, {"y"})}, .initializers = {floats("w", 3000)}})}).view());
  };
  for (const char* const archive : {"a", "b"}) pack(with_op("m", "Relu"), folder_ / archive, saved_as(Format::archive));
  Model edited = Model::load(folder_ / "a");
  edited.proto().mutable_graph()->mutable_node(0)->set_op_type("Abs");
  onnxar::replace(folder_ / "b", with_op("edited", "Abs"), {.output = unsynced_output});
  const Difference difference = diff(folder_ / "a", folder_ / "b");
  EXPECT_THAT(lines(difference), ElementsAre("changed graph.node[0].op_type: \"Relu\" -> \"Abs\""));
  EXPECT_THAT(difference.tensors, IsEmpty());
  edited.save(folder_ / "edited", saved_as(Format::archive, over_existing));
  EXPECT_EQ(lines(diff(folder_ / "a", folder_ / "edited")), lines(difference));
}

TEST_F(DiffTest, TensorsOfSubgraphsAndAttributesAreCompared) {
  const auto with = [](std::uint32_t seed) {
    const Message body =
        graph({.nodes = {constant("c", floats("", 3, seed))}, .initializers = {floats("w", 300, seed)}});
    return GraphParts{.nodes = {node("Loop", {}, {"z"}, {attribute_g("body", body)})}};
  };
  EXPECT_TRUE(found(with(1), with(1)).none());
  const Difference difference = found(with(1), with(2));
  EXPECT_THAT(difference.graph, IsEmpty());
  ASSERT_THAT(difference.tensors, SizeIs(2));
  EXPECT_EQ(difference.tensors[0].site, "graph.node[0].attr.body.node[0].attr.value");
  EXPECT_EQ(difference.tensors[1].site, "graph.node[0].attr.body.initializer[0]");
}

TEST_F(DiffTest, FindsAddedRemovedAndChangedTensors) {
  const auto zeros = [](std::string_view name, std::uint64_t type, const Dims& dims, std::size_t size) {
    return tensor(name, type, dims).raw_data(Blob(size));
  };
  const Difference difference =
      found({.initializers = {zeros("gone", dtype::uint8, {5}, 5), zeros("t", dtype::uint8, {6}, 6),
                              zeros("s", dtype::uint8, {6}, 6)}},
            {.initializers = {zeros("t", dtype::float16, {6}, 12), zeros("s", dtype::uint8, {2, 3}, 6),
                              zeros("new", dtype::uint8, {1}, 1)}});
  ASSERT_THAT(difference.tensors, SizeIs(4));
  EXPECT_EQ(difference.tensors[0].after->type, DataType::float16);
  EXPECT_EQ(difference.tensors[0].bytes_before, 6U);
  EXPECT_EQ(difference.tensors[0].bytes_after, 12U);
  EXPECT_THAT(difference.tensors[1].after->dims, ElementsAre(2, 3));
  EXPECT_FALSE(difference.tensors[1].data);
  EXPECT_EQ(difference.tensors[2].change, Change::removed);
  EXPECT_EQ(difference.tensors[2].site, "graph.initializer[0]");
  EXPECT_EQ(difference.tensors[3].change, Change::added);
  EXPECT_EQ(difference.tensors[3].site, "graph.initializer[2]");
}

TEST_F(DiffTest, ComparesStringsAndTensorsWithoutData) {
  const auto strings = [](const std::vector<std::string>& values) {
    return tensor("s", dtype::string, {2}).string_data(values);
  };
  const Message open = tensor("open", dtype::float32, {2});
  EXPECT_TRUE(
      found({.initializers = {strings({"a", "b"}), open}}, {.initializers = {strings({"a", "b"}), open}}).none());
  const Difference difference = found({.initializers = {strings({"a", "b"})}}, {.initializers = {strings({"a", "c"})}});
  ASSERT_THAT(difference.tensors, SizeIs(1));
  EXPECT_EQ(difference.tensors[0].data->first, 1U);
  EXPECT_FALSE(difference.tensors[0].data->max_absolute);
}

TEST_F(DiffTest, FindsNumbersInTensorsOfStrings) {
  const auto strings = [] { return tensor("s", dtype::string, {1}).string_data({"a"}); };
  const Messages with_numbers = {strings().float_data({1}), strings().int64_data({1}), strings().raw_data(blob("1"))};
  for (const Message& each : with_numbers) {
    EXPECT_TRUE(found({.initializers = {each}}, {.initializers = {each}}).none());
    const Difference difference = found({.initializers = {strings()}}, {.initializers = {each}});
    ASSERT_THAT(difference.tensors, SizeIs(1));
    EXPECT_EQ(difference.tensors[0].data->differing, 1U);
  }
}

/// Found by a fuzzer: such data has no known length, and the request for it ended the comparison with an error.
TEST_F(DiffTest, ComparesTypedDataOfUnknownTypes) {
  const auto of_later_type = [](std::int64_t value) { return model_of({tensor("w", 39, {1}).int64_data({value})}); };
  EXPECT_TRUE(found(of_later_type(5), of_later_type(5)).none());
  const Difference difference = found(of_later_type(5), of_later_type(6));
  ASSERT_THAT(difference.tensors, SizeIs(1));
  ASSERT_TRUE(difference.tensors[0].data);
  EXPECT_EQ(difference.tensors[0].data->differing, 1U);
}

TEST_F(DiffTest, ComparesDataLongerThanItsShape) {
  const auto longer = [](float last) { return model_of({tensor("w", dtype::float32, {1}).float_data({1, last})}); };
  EXPECT_TRUE(found(longer(2), longer(2)).none());
  const Difference difference = found(longer(2), longer(3));
  ASSERT_THAT(difference.tensors, SizeIs(1));
  ASSERT_TRUE(difference.tensors[0].data);
  EXPECT_EQ(difference.tensors[0].data->elements, 1U);
}

// --- ONNX's own models -----------------------------------------------------------------------------------------------

TEST(DiffTestdataSlow, EveryModelIsTheSameAsItsArchive) {
  const std::vector<std::filesystem::path> models = onnx_test_models();
  if (models.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  const TempDir folder;
  SaveOptions save = saved_as(Format::archive, over_existing);
  save.threshold = 0;
  for (const std::filesystem::path& path : models) {
    pack_or_unpack(path, folder / "a", save);
    EXPECT_TRUE(diff(path, folder / "a").none()) << path;
  }
  EXPECT_GT(models.size(), 1000U);
}

}  // namespace
}  // namespace onnxar::testing
