// ModelReader gives a model and its large data to callers that use their own protobuf.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "archive/opened.h"
#include "onnxar/convert.h"
#include "onnxar/model_stream.h"
#include "onnxar/onnx.pb.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t floats_in_weight = 512;
const Blob data_of_w = pattern(4 * floats_in_weight, 3);

Archive archive_around(const Message& model, std::vector<ZipEntry> entries = {zip_entry("w", data_of_w)}) {
  return opened(archive_of(model, std::move(entries)).bytes);
}

Blob data_of(const ModelReader& reader, std::size_t index) {
  Blob data;
  reader.read(index, [&](Bytes piece) { data.insert(data.end(), piece.begin(), piece.end()); });
  EXPECT_EQ(data.size(), reader.size_of(index));
  return data;
}

std::string path_text(std::span<const FieldStep> steps) {
  std::string text;
  for (const FieldStep& step : steps) {
    text += std::string(step.field) + (step.index ? "[" + std::to_string(*step.index) + "]" : "") + " ";
  }
  return text;
}

TEST(ModelReaderTest, NamesExternalTensorsByTheirSteps) {
  const Messages nodes = {constant("a", floats("small", 4)),
                          constant("b", linked_floats("in_node", floats_in_weight, "w"))};
  const ModelReader reader(archive_around(model(
      {.graph =
           graph({.nodes = nodes, .initializers = {floats("i", 4), linked_floats("w", floats_in_weight, "w")}})})));
  std::vector<std::string> paths;
  reader.for_each([&](std::size_t index, std::span<const FieldStep> steps) {
    EXPECT_EQ(index, paths.size());
    paths.push_back(path_text(steps));
  });
  EXPECT_THAT(paths, ElementsAre("graph node[1] attribute[0] t ", "graph initializer[1] "));
  ASSERT_EQ(reader.size(), 2U);
  EXPECT_EQ(data_of(reader, 0), data_of_w);
  EXPECT_EQ(data_of(reader, 1), data_of_w);
}

TEST(ModelReaderTest, StepsLeadToEveryTensorInItsOrder) {
  const Messages nodes = {constant("a", floats("small", 4))};
  const Archive archive = archive_around(model(
      {.graph = graph({.nodes = nodes, .initializers = {floats("i", 4), linked_floats("w", floats_in_weight, "w")}})}));
  std::vector<std::string> paths;
  for (const std::vector<FieldStep>& steps : steps_of_tensors(archive)) paths.push_back(path_text(steps));
  EXPECT_THAT(paths, ElementsAre("graph node[0] attribute[0] t ", "graph initializer[0] ", "graph initializer[1] "));
}

TEST(ModelReaderTest, TheModelParsesAndItsTensorsAreThoseOfTheSteps) {
  const ModelReader reader(archive_around(model_of({floats("i", 4), linked_floats("w", floats_in_weight, "w")})));
  schema::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromArray(reader.model().data(), static_cast<int>(reader.model().size())));
  EXPECT_EQ(proto.graph().initializer(1).name(), "w");
  EXPECT_FALSE(proto.graph().initializer(1).has_raw_data());
  EXPECT_EQ(proto.graph().initializer(0).raw_data().size(), 16U);
}

TEST(ModelReaderTest, WhatCheckCallsAnErrorIsRefusedWithItsCode) {
  const Blob four = pattern(4);
  const std::vector<Message> broken = {
      tensor("w", dtype::float32, {static_cast<std::int64_t>(floats_in_weight)}).raw_data(pattern(4)),
      linked_floats("w", floats_in_weight, "none"),
      tensor("w", dtype::float32, {3}).external("w", 0, 8),
      tensor("w", dtype::string, {1}).external("w", 0, 8),
      tensor("w", dtype::float32, {-1}).raw_data(four),
  };
  const TempDir folder;
  for (const Message& each : broken) {
    const Built archive = archive_of(model_of({each}), {zip_entry("w", data_of_w)});
    const std::vector<Finding> findings = check(folder.write_file("a.onnxar", archive.bytes));
    const auto fault = std::ranges::find(findings, Severity::error, &Finding::severity);
    ASSERT_NE(fault, findings.end());
    expect_error(error_of([&] { ModelReader(Archive::open(folder / "a.onnxar")); }),
                 {.code = fault->code, .offset = fault->place.offset, .path = folder / "a.onnxar"});
  }
}

TEST(ModelReaderTest, RefusesFaultOfAnUnusedEntry) {
  Built archive =
      archive_of(model_of({floats("i", 4)}), {zip_entry("first", data_of_w), zip_entry("other", data_of_w)});
  flip_bit(archive.bytes, archive.entry("other").header_offset + 10);  // the time, which the directory has too
  const Error error = error_of([&] { ModelReader(Archive::open(archive.bytes, nullptr)); });
  EXPECT_EQ(kind(error.code()), Kind::format);
}

TEST(ModelReaderTest, ComparesDataWithItsCrcByDefault) {
  const auto damaged = [] {
    Built built = archive_of(model_of({linked_floats("w", floats_in_weight, "w")}), {zip_entry("w", data_of_w)});
    flip_bit(built.bytes, built.entry("w").data_offset + 7);
    return opened(built.bytes);
  };
  const ModelReader reader(damaged());
  EXPECT_EQ(error_of([&] { data_of(reader, 0); }).code(), Code::zip_data_crc);
  EXPECT_EQ(data_of(ModelReader(damaged(), {.verify_data = false}), 0).size(), data_of_w.size());
}

TEST(ModelReaderTest, ReturnsAllDataWithoutLoadingExternalData) {
  const ModelReader reader(archive_around(model_of({linked_floats("a", floats_in_weight, "w")})),
                           {.load_external_data = false});
  ASSERT_EQ(reader.size(), 1U);
  EXPECT_EQ(data_of(reader, 0), data_of_w);
}

TEST(ModelReaderTest, RefusesEmptyFunctionsAndMissingTensors) {
  const ModelReader reader(archive_around(model_of({linked_floats("a", floats_in_weight, "w")})));
  EXPECT_EQ(error_of([&] { reader.read(0, ByteSink()); }).code(), Code::usage_argument);
  EXPECT_EQ(error_of([&] { reader.for_each({}); }).code(), Code::usage_argument);
  EXPECT_EQ(error_of([&] { data_of(reader, 1); }).code(), Code::usage_no_such_tensor);
  EXPECT_EQ(error_of([&] { static_cast<void>(reader.size_of(1)); }).code(), Code::usage_no_such_tensor);
}

TEST(ModelReaderTest, LimitsSharedDataToMaxExpansion) {
  constexpr std::size_t large = 1U << 16U;  // bytes: the rest of the archive is small in comparison
  const auto sharing = [](std::size_t tensors) {
    Messages initializers;
    for (std::size_t i = 0; i < tensors; ++i) {
      initializers.push_back(linked_floats("w" + std::to_string(i), large / 4, "w"));
    }
    return archive_around(model_of(initializers), {zip_entry("w", pattern(large))});
  };
  EXPECT_EQ(ModelReader(sharing(8)).size(), 8U);
  EXPECT_EQ(error_of([&] { ModelReader(sharing(9)); }).code(), Code::onnx_model_expansion);
  LoadOptions more = {.max_expansion = 9};
  EXPECT_EQ(ModelReader(sharing(9), more).size(), 9U);
  more.max_expansion = ~0ULL;
  EXPECT_EQ(ModelReader(sharing(30), more).size(), 30U);
}

}  // namespace
}  // namespace onnxar::testing
