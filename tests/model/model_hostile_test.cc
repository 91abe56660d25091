// Damaged and hostile models: Model::load refuses them with a format error, from a path and from bytes.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

class HostileTest : public ::testing::Test {
 protected:
  /// Every way to load `bytes` is refused with the same error.
  void expect_refused(const Blob& bytes, Code code) const {
    const auto path = folder_.write_file("m", bytes);
    const Error by_path = error_of([&] { static_cast<void>(Model::load(path)); });
    EXPECT_EQ(id(by_path.code()), id(code)) << by_path.what();
    EXPECT_EQ(by_path.path(), path);
    for (const bool no_copy : {true, false}) {
      expect_error(error_of([&] { static_cast<void>(Model::load(bytes, with_no_copy(no_copy))); }),
                   {.code = code, .offset = by_path.offset()});
    }
    const Blob archive = archive_of(Message().raw(bytes)).bytes;
    const Error in_archive = error_of([&] { static_cast<void>(Model::load(archive)); });
    EXPECT_EQ(id(in_archive.code()), id(code)) << in_archive.what();
  }
  void expect_refused(const Message& message, Code code) const { expect_refused(message.view(), code); }

  TempDir folder_;
};

Message with_field(const Message& field) { return model_of({Message().raw(floats("w", 300).message()).raw(field)}); }

TEST_F(HostileTest, TenThousandSubgraphs) {
  expect_refused(model({.graph = subgraph_of_depth(10'000)}), Code::wire_depth);
  expect_refused(model({.graph = subgraph_of_depth(10'000, graph({.initializers = {floats("w", 300)}}))}),
                 Code::wire_depth);
}

// The walk over tensors skips these parts.
TEST_F(HostileTest, RefusesWhatOnlyProtobufFindsInvalid) {
  Message type;  // messages without tensors can be nested, too: types within types
  for (int i = 0; i < 10'000; ++i) type = Message().message(4, Message().message(1, type));
  for (const Message& input : {Message().string(1, "x").message(2, type), Message().claimed_length(1, 100)}) {
    expect_refused(model({.graph = Message().message(graph_field::input, input)}), Code::onnx_model_invalid);
  }
}

// Only Protobuf reads them: the walk over tensors skips them.
TEST_F(HostileTest, LimitsDepthOfOtherMessages) {
  const auto of_depth = [](std::size_t depth) {
    Message type = Message();
    for (std::size_t i = 0; i < depth / 2; ++i)
      type = Message().message(4, Message().message(1, type));  // of sequences
    return model({.graph = Message().message(graph_field::input, Message().string(1, "x").message(2, type))});
  };
  EXPECT_NO_THROW(static_cast<void>(Model::load(of_depth(90).view())));
  const Message deep = of_depth(102);
  EXPECT_EQ(code_of([&] { static_cast<void>(Model::load(deep.view())); }), Code::onnx_model_invalid);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "graph{node{attribute{g{";
  EXPECT_EQ(code_of([&] { text_parser()(as_bytes(text)); }), Code::onnx_text_syntax);
}

// The vectors of spec/vectors show each fault.
TEST_F(HostileTest, WhatTheWireOrTheFormatForbids) {
  constexpr std::int64_t huge = 1LL << 40;
  const Message once = graph({.initializers = {floats("w", 300)}});
  const Message huge_values = tensor("w", dtype::int8, {huge, huge}).int32_data({1, 2});
  const struct {
    std::string_view name;
    Message model;
    Code code;
  } rows[] = {
      {"a group", Message().raw(model_of({})).group(200, Message()), Code::wire_type},
      {"two graphs", Message().message(model_field::graph, once).message(model_field::graph, once),
       Code::wire_repeated_message},
      {"a number of eleven bytes", with_field(Message().padded_varint(tensor_field::data_type, 1, 11)),
       Code::wire_varint},
      {"a product of 2^80", model_of({huge_values}), Code::onnx_tensor_dims},
      {"a negative dimension", model_of({tensor("w", dtype::float32, {300, -1})}), Code::onnx_tensor_dims},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    expect_refused(row.model, row.code);
  }
}

TEST_F(HostileTest, HugeDeclaredLengths) {
  for (const std::uint64_t length : {1ULL << 20U, 1ULL << 31U, 1ULL << 32U, 1ULL << 63U, ~0ULL}) {
    expect_refused(with_field(Message().claimed_length(tensor_field::raw_data, length)), Code::wire_truncated);
    expect_refused(Message().raw(model_of({})).claimed_length(model_field::doc_string, length), Code::wire_truncated);
  }
  // The shape calls for far more data than exists, so memory must not be allocated by the shape.
  expect_refused(model_of({tensor("w", dtype::float32, {1LL << 50}).raw_data(pattern(1200))}),
                 Code::onnx_tensor_length);
  const Message typed = model_of({tensor("w", dtype::int8, {1LL << 50}).int32_data({1, 2, 3})});
  const Model model = Model::load(typed.view());
  EXPECT_EQ(error_of([&] { static_cast<void>(model.payload(initializer(model, 0))); }).code(),
            Code::onnx_tensor_length);
}

TEST_F(HostileTest, ATruncatedModelAtEveryByte) {
  const Message whole = Message().message(
      model_field::graph,
      graph({.nodes = {constant("c", floats("c", 20, 1))},
             .initializers = {floats("w", 300, 2), tensor("t", dtype::int16, {600}).int32_data(std::vector(600, 3))}}));
  const auto path = folder_.write_file("m", whole.view());
  for (std::size_t size = whole.size(); size-- > 0;) {
    const Bytes cut = Bytes(whole.view()).first(size);
    std::filesystem::resize_file(path, size);
    const Error by_path = error_of([&] { static_cast<void>(Model::load(path)); });
    EXPECT_EQ(id(by_path.code()), size == 0 ? "onnx.model.invalid" : "wire.truncated") << size;
    const Error by_bytes = error_of([&] { static_cast<void>(Model::load(cut)); });
    EXPECT_EQ(by_bytes.code(), by_path.code());
  }
  EXPECT_NO_THROW(static_cast<void>(Model::load(whole.view())));
}

TEST_F(HostileTest, AFlippedBitIsAnErrorOfFormatOrHarmless) {
  const Blob model = model_of({floats("w", 300), tensor("t", dtype::int16, {3}).int32_data({1, 2, 3})}).take();
  const Blob archive = archive_of(model_of({linked_floats("w", 300, "w")}), {zip_entry("w", pattern(1200))}).bytes;
  std::size_t refused = 0;
  for (Blob bytes : {model, archive}) {
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 3) {
      const std::byte mask{static_cast<unsigned char>(1U << bit % 8)};
      bytes[bit / 8] ^= mask;
      try {
        const Model loaded = Model::load(bytes);
        for_each_tensor(loaded.proto(), [](const schema::TensorProto&, const TensorInfo&) {});
      } catch (const Error& error) {
        EXPECT_EQ(kind(error.code()), Kind::format) << error.what();
        ++refused;
      }
      bytes[bit / 8] ^= mask;
    }
  }
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace onnxar::testing
