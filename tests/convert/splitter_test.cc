// What becomes a payload, what stays with a remark, and what is refused.

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "convert/loading.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

class SplitterTest : public LoadedModelTest {};

TEST_F(SplitterTest, TypedDataIsConvertedWhileItIsRead) {
  const std::vector<std::int32_t> values(512, -2);
  const LoadedModel model =
      load_onnx(model_of({tensor("w", dtype::int16, {512}).int32_data(values, Repeated::unpacked)}));
  EXPECT_EQ(payloads_of(model).at("w"), little_endian_bytes(std::vector<std::int16_t>(512, -2)));
  EXPECT_TRUE(model.payloads.at(0).bytes().empty());
}

TEST_F(SplitterTest, WhatDoesNotConvertExactlyStaysWithARemark) {
  for (const auto& [odd, remark] : {
           std::pair(tensor("odd", dtype::int16, {512}).int32_data(std::vector<std::int32_t>(511, 1)), "not_converted"),
           std::pair(floats("odd", 256).float_data({1, 2}), "not_converted"),
           std::pair(tensor("odd", dtype::float32, {256}).raw_data(pattern(1028)), "long_raw"),
       }) {
    const Message proto = model_of({odd});
    const LoadedModel model = load_onnx(proto);
    EXPECT_EQ(model.skeleton, proto.view());
    ASSERT_THAT(ids_of(model.remarks), ElementsAre(std::string("warning onnx.tensor.") + remark));
    EXPECT_EQ(model.remarks[0].place.offset, place_in(proto.view(), odd));
    EXPECT_THAT(model.remarks[0].message, ::testing::HasSubstr("\"odd\" (graph.initializer[0])"));
  }
}

TEST_F(SplitterTest, FaultyRawDataIsNotMovedInBetween) {
  for (const auto& faulty : {tensor("w", dtype::string, {2000}).raw_data(pattern(2000)),
                             tensor("w", dtype::undefined, {2000}).raw_data(pattern(2000)),
                             tensor("w", dtype::uint8, {0}).raw_data(pattern(2000)),
                             tensor("w", dtype::uint8, {1999}).raw_data(pattern(2000))}) {
    const Message proto = model_of({faulty});
    const std::filesystem::path path = folder_.write_file("m.onnx", proto.view());
    const LoadedModel model = load_model(path, ExternalPolicy::everything_inline(), {});
    EXPECT_EQ(model.skeleton, proto.view());
    EXPECT_TRUE(model.payloads.empty());
  }
}

TEST_F(SplitterTest, ATypeThatIsNotKnownIsMovedByItsLength) {
  const LoadedModel model = load_onnx(model_of({tensor("w", 99, {5}).raw_data(pattern(2000))}));
  EXPECT_EQ(payloads_of(model).at("w"), pattern(2000));
}

TEST_F(SplitterTest, AnUnknownKeyIsDroppedWithARemark) {
  folder_.write_file("w.bin", pattern(4));
  const LoadedModel model = load_onnx(model_of({linked_floats("w", 1, "w.bin").external_data("prepacked_0", "x")}));
  EXPECT_THAT(ids_of(model.remarks), ElementsAre("warning onnx.external_data.unknown_key"));
  EXPECT_EQ(as_text(model.skeleton).find("prepacked"), std::string_view::npos);
}

TEST_F(SplitterTest, RefusesTooShortRawDataThatMovesOrStays) {
  expect_refused(tensor("w", dtype::float32, {257}).raw_data(pattern(1024)), Code::onnx_tensor_length);
  expect_refused(tensor("w", dtype::float32, {255}).raw_data(pattern(1016)), Code::onnx_tensor_length);
  expect_refused(tensor("w", dtype::int64, {2}).raw_data(pattern(8)), Code::onnx_tensor_length);
  expect_refused(tensor("w", dtype::float32, {}).raw_data({}), Code::onnx_tensor_length);
  expect_refused(tensor("w", dtype::int4, {3}).raw_data(pattern(1)), Code::onnx_tensor_length);
}

TEST_F(SplitterTest, RawDataThatIsTooShortIsRefusedIfNothingMoves) {
  const Message bad = tensor("w", dtype::float32, {257}).raw_data(pattern(1024));
  const Message model = model_of({floats("first", 3), bad});
  const std::filesystem::path path = folder_.write_file("m.onnx", model.view());
  const Error error = error_of([&] { static_cast<void>(load_model(path, ExternalPolicy::everything_inline(), {})); });
  expect_error(error, Code::onnx_tensor_length, "", place_in(model.view(), bad));
}

}  // namespace
}  // namespace onnxar::testing
