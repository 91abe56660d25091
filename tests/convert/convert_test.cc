// Conversions write the bytes that an independent builder writes, and converting back restores the input.
#include "onnxar/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "convert/converting.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SaveOptions archive_with_threshold(std::uint64_t threshold, bool all_sites = false) {
  SaveOptions options = saved_as(Format::archive);
  options.threshold = threshold;
  options.all_sites = all_sites;
  return options;
}

/// Tensors of many sizes at sites of every kind, between fields that the schema does not know.
Message model_of_all_sites() {
  std::uint32_t seed = 0;
  const auto next = [&seed](std::size_t count) {
    ++seed;
    return floats("t/" + std::to_string(seed), count, seed).message();
  };
  const auto sparse = [&] {
    return sparse_tensor(next(300), tensor("", dtype::int64, {300}).raw_data(pattern(2400)), {9});
  };
  const Message inner = graph({.nodes = {constant("c", next(400))},
                               .initializers = {next(256), next(0), next(5)},
                               .sparse_initializers = {sparse()}});
  const Message loop = node("Loop", {}, {},
                            {attribute_g("body", inner), attribute_tensors("many", {next(500), next(7)}),
                             attribute_sparse_tensor("s", sparse())});
  Message whole = model(
      {.graph = graph({.nodes = {loop}, .initializers = {next(4096), next(70000)}, .sparse_initializers = {sparse()}}),
       .metadata = {string_entry("k", "v")},
       .functions = {function({.nodes = {loop}, .attribute_protos = {attribute_t("d", next(600))}})},
       .training = {training_info(graph({.initializers = {next(700)}}), inner)}});
  return whole.fixed32(7777, 1).string(7778, "unknown");
}

TEST_F(ConvertTest, PacksAnInlineModelAsItsBuilderWrites) {
  const Message inside = model_of({floats("w", 256, 1), floats("b", 3), floats("v", 300, 2)});
  const Message outside = model_of({linked_floats("w", 256, "w"), floats("b", 3), linked_floats("v", 300, "v")});
  const Built expected = archive_of(outside, {zip_entry("w", pattern(1024, 1)), zip_entry("v", pattern(1200, 2))});
  EXPECT_EQ(packed(inside), expected.bytes);
  EXPECT_EQ(unpacked(expected.bytes), inside.view());
}

TEST_F(ConvertTest, RefusesUnknownFormatAndWritesNothing) {
  const fs::path input = folder_.write_file("in.onnx", model_of({floats("w", 256)}).view());
  expect_refused(folder_, input, saved_as(static_cast<Format>(99)), Code::usage_argument, "", {});
}

TEST_F(ConvertTest, InlineToArchiveAndBackIsTheSameFile) {
  const Message model = model_of_all_sites();
  for (const std::uint64_t threshold : {0U, 1U, 20U, 1024U, 100000U, 1000000U}) {
    for (const bool all_sites : {false, true}) {
      const Blob archive = packed(model, archive_with_threshold(threshold, all_sites));
      EXPECT_EQ(unpacked(archive), model.view()) << threshold << ' ' << all_sites;
    }
  }
}

TEST_F(ConvertTest, InlineToExternalAndBackIsTheSameFile) {
  const Message model = model_of_all_sites();
  SaveOptions external = saved_as(Format::onnx_external);
  external.all_sites = true;
  const Blob outside = converted(model.view(), external);
  EXPECT_NE(outside, model.view());
  EXPECT_EQ(unpacked(outside), model.view());
}

TEST_F(ConvertTest, AnArchiveConvertedToAnArchiveIsTheSameFile) {
  const Blob archive = packed(model_of_all_sites());
  EXPECT_EQ(converted(archive, saved_as(Format::archive)), archive);
}

TEST_F(ConvertTest, ExternalToArchiveAndBackIsTheSameModelAndData) {
  const Message outside = model_of({linked_floats("a", 256, "w.bin"), linked_floats("b", 300, "w.bin", 1024)});
  folder_.write_file("w.bin", pattern(2224));
  const Blob archive = packed(outside);
  fs::remove(folder_ / "w.bin");
  EXPECT_EQ(converted(archive, saved_as(Format::onnx_external)), outside.view());
  EXPECT_EQ(folder_.read_file("w.bin"), pattern(2224));
}

TEST_F(ConvertTest, SmallExternalTensorsComeIntoTheModel) {
  const Blob data = pattern(16);
  folder_.write_file("w.bin", data);
  const Blob archive = packed(model_of({linked_floats("w", 4, "w.bin")}));
  EXPECT_EQ(archive, archive_of(model_of({floats("w", 4)})).bytes);
}

TEST_F(ConvertTest, TensorsOfOneSliceShareOneEntry) {
  const Message outside = model_of({linked_floats("tied", 256, "w.bin", 64), linked_floats("embed", 256, "./w.bin", 64),
                                    linked_floats("overlap", 300, "w.bin", 64)});
  folder_.write_file("w.bin", pattern(2000));
  const Blob file = pattern(2000);
  const Blob archive = packed(outside);
  const auto slice = [&file](std::ptrdiff_t size) { return Blob(file.begin() + 64, file.begin() + 64 + size); };
  EXPECT_EQ(archive, archive_of(model_of({linked_floats("tied", 256, "tied"), linked_floats("embed", 256, "tied"),
                                          linked_floats("overlap", 300, "overlap")}),
                                {zip_entry("tied", slice(1024)), zip_entry("overlap", slice(1200))})
                         .bytes);
  EXPECT_EQ(report_.tensors_outside, 3U);
  EXPECT_EQ(report_.payloads, 2U);
  EXPECT_EQ(report_.payload_bytes, 2224U);
  EXPECT_EQ(converted(archive, saved_as(Format::archive)), archive) << "tensors still share their data";
}

TEST_F(ConvertTest, TypedDataMovesAsRawBytes) {
  const std::vector<float> values(256, 1.5F);
  std::vector<std::int32_t> halves(600, -2);
  const Message typed = model_of({tensor("f", dtype::float32, {256}).float_data(values, Repeated::unpacked),
                                  tensor("i", dtype::int16, {600}).int32_data(halves)});
  const Blob f = little_endian_bytes(values), i = little_endian_bytes(std::vector<std::int16_t>(600, -2));
  const Blob archive = packed(typed);
  EXPECT_EQ(archive, archive_of(model_of({tensor("f", dtype::float32, {256}).external("f", 0, 1024),
                                          tensor("i", dtype::int16, {600}).external("i", 0, 1200)}),
                                {zip_entry("f", f), zip_entry("i", i)})
                         .bytes);
  EXPECT_EQ(
      unpacked(archive),
      model_of({tensor("f", dtype::float32, {256}).raw_data(f), tensor("i", dtype::int16, {600}).raw_data(i)}).view());
}

TEST_F(ConvertTest, KeepsNecessaryDataInTheModel) {
  const Message stays =
      model_of({tensor("shape", dtype::int64, {127}).raw_data(pattern(1016)),
                tensor("axes", dtype::int32, {2}).int32_data({1, -1}),
                tensor("names", dtype::string, {2}).string_data({"a", std::string(5000, 'b')}),
                tensor("none", dtype::float32, {0}).raw_data({}), floats("part", 300).segment(0, 300)});
  EXPECT_EQ(packed(stays, archive_with_threshold(0, true)), archive_of(stays).bytes);
  EXPECT_EQ(report_.tensors_outside, 0U);
  EXPECT_THAT(report_.remarks, IsEmpty());
}

TEST_F(ConvertTest, NamesBecomeKeysThatDoNotClash) {
  const Message inside = model_of({floats("a.b", 256, 1), floats("a/b", 256, 2), floats("", 256, 3)});
  const Message outside = model_of(
      {linked_floats("a.b", 256, "a_b"), linked_floats("a/b", 256, "a_b_2"), linked_floats("", 256, "tensor")});
  const Blob archive = packed(inside);
  EXPECT_EQ(archive, archive_of(outside, {zip_entry("a_b", pattern(1024, 1)), zip_entry("a_b_2", pattern(1024, 2)),
                                          zip_entry("tensor", pattern(1024, 3))})
                         .bytes);
  EXPECT_EQ(unpacked(archive), inside.view());
}

TEST_F(ConvertTest, EveryEntryBeginsAtTheAlignmentAskedFor) {
  SaveOptions options = saved_as(Format::archive);
  options.alignment = 4096;
  ZipBuilder expected;
  expected.alignment = 4096;
  expected.entries = {zip_entry("w", pattern(1024)),
                      zip_entry(model_entry, model_of({linked_floats("w", 256, "w")}).view())};
  EXPECT_EQ(packed(model_of({floats("w", 256)}), options), expected.build_placed().bytes);
}

TEST_F(ConvertTest, TheReportCountsWhatWasWritten) {
  const Message inside = model_of({floats("a", 256, 1), floats("b", 300, 2), floats("c", 3)});
  const Blob archive = packed(inside);
  EXPECT_EQ(report_.tensors_outside, 2U);
  EXPECT_EQ(report_.payloads, 2U);
  EXPECT_EQ(report_.payload_bytes, 2224U);
  EXPECT_EQ(report_.file_bytes, archive.size());
  const ConvertReport of_archive = report_;
  EXPECT_EQ(unpacked(archive).size(), inside.size());
  EXPECT_EQ(report_.model_bytes, inside.size());
  EXPECT_EQ(report_.file_bytes, inside.size());
  EXPECT_EQ(report_.tensors_outside, 0U);
  EXPECT_LT(of_archive.model_bytes, inside.size());
}

TEST_F(ConvertTest, ADryRunReportsTheSameAndWritesNothing) {
  const fs::path input = folder_.write_file("in", model_of({floats("a", 256, 1), floats("b", 300, 2)}).view());
  for (const Format format : {Format::archive, Format::onnx_inline, Format::onnx_external}) {
    const ConvertReport planned = pack_or_unpack(input, folder_ / "out", saved_as(format, dry_output));
    EXPECT_THAT(folder_.file_names(), ElementsAre("in"));
    const ConvertReport done = pack_or_unpack(input, folder_ / "out", saved_as(format));
    EXPECT_EQ(planned.file_bytes, done.file_bytes);
    EXPECT_EQ(planned.model_bytes, done.model_bytes);
    EXPECT_EQ(planned.payloads, done.payloads);
    fs::remove(folder_ / "out");
    fs::remove(folder_ / "w.bin");
  }
}

TEST_F(ConvertTest, AnOutputIsReplacedWholeAndKeepsItsMode) {
  const fs::path input = folder_.write_file("in", model_of({floats("w", 256)}).view());
  fs::permissions(folder_.write_file("out", pattern(100000)), fs::perms::owner_read | fs::perms::owner_write);
  const fs::perms mode = fs::status(folder_ / "out").permissions();  // Windows has a bit of it
  pack_or_unpack(input, folder_ / "out", saved_as(Format::archive, over_existing));
  EXPECT_EQ(folder_.read_file("out"),
            archive_of(model_of({linked_floats("w", 256, "w")}), {zip_entry("w", pattern(1024))}).bytes);
  EXPECT_EQ(fs::status(folder_ / "out").permissions(), mode);
  EXPECT_THAT(folder_.file_names(), ElementsAre("in", "out"));
}

TEST_F(ConvertTest, ReplacesTheFileOfTheModelItself) {
  const Message inside = model_of({floats("a", 256, 1), floats("b", 300, 2)});
  const fs::path path = folder_.write_file("m", inside.view());
  for (const Format format : {Format::archive, Format::onnx_external, Format::onnx_external, Format::onnx_inline}) {
    pack_or_unpack(path, path, saved_as(format, over_existing));
  }
  EXPECT_EQ(folder_.read_file("m"), inside.view());
  EXPECT_THAT(folder_.file_names(), ElementsAre("m", "w.bin"));
}

TEST_F(ConvertTest, CopiesInlineModelWithoutGathering) {
  const Message inside = model_of({floats("w", 4096), floats("b", 3)});
  EXPECT_EQ(converted(inside.view(), saved_as(Format::onnx_inline), {.max_skeleton_size = 1000}), inside.view());
}

TEST_F(ConvertTest, CopiesInlineModelInEverySpelling) {
  const Blob data = pattern(4096);
  constexpr std::uint32_t raw_data = tensor_field::raw_data;
  const TensorBuilder w = tensor("w", dtype::int8, {4096}).raw_data(data).doc_string("d");
  for (const Message& odd : Messages{
           TensorBuilder(w).order({raw_data}),
           TensorBuilder(w).raw_data(data),
           TensorBuilder(w).data_location(0),
           TensorBuilder(w).external_data("location", "stale"),
           TensorBuilder(w).float_data({}),
           TensorBuilder(w).float_data({1}),
           TensorBuilder(w).packed_dims().field(raw_data, Message().varint(raw_data, 1)),
           TensorBuilder(w).without(raw_data).field(raw_data, Message().padded_length_bytes(raw_data, data, 5)),
           TensorBuilder(w).without(raw_data).field(
               raw_data, Message().padded_tag(raw_data, wire_type::length, 3).raw_varint(4096).raw(data)),
       }) {
    const Message model = model_of({floats("first", 3), odd});
    EXPECT_TRUE(converted(model.view(), saved_as(Format::onnx_inline)) == model.view()) << odd.size();
  }
}

TEST_F(ConvertTest, TensorAtTheGreatestDepthKeepsItsData) {
  // 32 subgraphs of three messages, then node, attribute and tensor: the hundredth, so a link would be one too deep.
  const auto deep = [](std::size_t subgraphs) {
    const Message holder = node("Constant", {}, {"w"}, {attribute_t("value", floats("", 256))});
    return model({.graph = subgraph_of_depth(subgraphs, graph({.nodes = {holder}}))});
  };
  const Blob archive = converted(deep(32).view(), saved_as(Format::archive));
  EXPECT_EQ(report_.payloads, 0U);
  EXPECT_EQ(converted(archive, saved_as(Format::onnx_inline)), deep(32).view());
  EXPECT_EQ(error_of([&] { static_cast<void>(converted(deep(33).view(), saved_as(Format::archive))); }).code(),
            Code::wire_depth);
}

TEST_F(ConvertTest, WarnsOfMissingDataAtItsPlaceInTheInput) {
  const Message open = tensor("open", dtype::float32, {3});
  const Message proto = model_of({floats("w", 300, 1), open});
  static_cast<void>(packed(proto));
  ASSERT_THAT(ids_of(report_.remarks), ElementsAre("warning onnx.tensor.no_data"));
  EXPECT_EQ(report_.remarks[0].place.entry, "");
  EXPECT_EQ(report_.remarks[0].place.offset, place_in(proto.view(), open));
  const Message graph_tensor = tensor("in graph", dtype::float32, {3});
  const Built archive = archive_of(proto, {zip_entry("b.onnx", model_of({graph_tensor}).view())});
  static_cast<void>(converted(archive.bytes, saved_as(Format::archive)));
  ASSERT_THAT(ids_of(report_.remarks), ElementsAre("warning onnx.tensor.no_data", "warning onnx.tensor.no_data"));
  EXPECT_EQ(report_.remarks[0].place.entry, "__MODEL_PROTO");
  EXPECT_EQ(report_.remarks[0].place.offset, place_in(archive.bytes, open));
  EXPECT_EQ(report_.remarks[1].place.entry, "b.onnx");
  EXPECT_EQ(report_.remarks[1].place.offset, place_in(archive.bytes, graph_tensor));
}

}  // namespace
}  // namespace onnxar::testing
