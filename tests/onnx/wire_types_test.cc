// Fields of another wire type or another value than the schema gives them, and dimensions and runs that do not come out
// even. A parser of the schema skips such fields as unknown ones.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/error_of.h"
#include "onnx/fields.h"
#include "onnx/operators.h"
#include "onnx/rewrite.h"
#include "onnx/sites.h"
#include "onnx/string_entry.h"
#include "onnx/tensor_values.h"
#include "onnx/tensor_view.h"
#include "onnx/typed_data.h"
#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using onnx::TensorView;

TensorView view_of(const Message& message) { return onnx::read_tensor(message.view(), {0, message.size()}); }

TensorBuilder float_tensor(std::int64_t count) { return tensor("w", dtype::float32, {count}); }

TEST(WireTypes, ValuesOfAnotherWireTypeAreNotValues) {
  const Message varint = Message().varint(tensor_field::float_data, 1);
  const Message both = Message().raw(varint).raw(float_tensor(2).float_data({1, 2}));
  const TensorView view = view_of(both);
  EXPECT_FALSE(onnx::surplus_values(both.view(), view)) << "the varint is not a third value";
  EXPECT_EQ(onnx::raw_run_of(both.view(), view), std::nullopt) << "readers disagree on the field";
  EXPECT_EQ(onnx::typed_data_source(both.view(), view), nullptr);
  EXPECT_NO_THROW(onnx::prove_typed_data(both.view(), view));
}

TEST(WireTypes, MetadataOfAnotherWireTypeIsNotMetadata) {
  constexpr std::uint32_t metadata_props = 14;
  const Message entry = Message().string(1, "onnxar.key").string(2, "value");
  const Message model = Message().varint(metadata_props, 7).message(metadata_props, entry).varint(metadata_props, 8);
  const auto found = onnx::find_metadata(model.view(), "onnxar.");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].entry.value, "value");
}

TEST(WireTypes, DropsMetadataByWholeKeyOrByPrefix) {
  const auto model_with = [](const std::vector<std::string>& keys) {
    Message made = model({.graph = graph({})});
    for (const std::string& key : keys) {
      made.message(model_field::metadata_props, Message().string(1, key).string(2, "value"));
    }
    return made;
  };
  const Message before = model_with({"a", "a.b", "a.b.c", "a.b"});
  const auto keep = [](const onnx::TensorSite&) { return onnx::TensorEdit::keep(); };
  const auto after = [&](const onnx::MetadataEdit& edit) {
    return onnx::rewrite_tensors(before.view(), keep, edit).flat();
  };
  EXPECT_EQ(after({.drop_key = "a.b"}), model_with({"a", "a.b.c"}).view());
  EXPECT_EQ(after({.drop = "a.b"}), model_with({"a"}).view());
  EXPECT_EQ(after({.drop_key = "none"}), before.view());
  EXPECT_EQ(after({}), before.view());
}

TEST(WireTypes, AnOperatorOfAnotherWireTypeHasNoName) {
  const Message node = Message().varint(node_field::op_type, 1);
  EXPECT_EQ(onnx::op_type_of(node.view(), {0, node.size()}), "");
  const Message named = Message().string(node_field::op_type, "Add").varint(node_field::op_type, 1);
  EXPECT_EQ(onnx::op_type_of(named.view(), {0, named.size()}), "Add");
  const Message damaged = Message().string(node_field::op_type, "Add").claimed_length(node_field::op_type, 100);
  EXPECT_EQ(onnx::op_type_of(damaged.view(), {0, damaged.size()}), "");
}

TEST(WireTypes, ATypeWithoutATypedFieldDoesNotConvert) {
  const Message later = tensor("w", 99, {1}).float_data({1});
  EXPECT_EQ(onnx::raw_run_of(later.view(), view_of(later)), std::nullopt);
  EXPECT_EQ(onnx::typed_data_source(later.view(), view_of(later)), nullptr);
  EXPECT_FALSE(onnx::surplus_values(later.view(), view_of(later)));
  const Message strings = tensor("s", dtype::string, {1}).string_data({"text"});
  EXPECT_EQ(onnx::raw_run_of(strings.view(), view_of(strings)), std::nullopt);
  EXPECT_EQ(error_of([&] { onnx::refuse_conversion(view_of(strings)); }).code(), Code::onnx_tensor_strings);
  const Message short_one = float_tensor(2).float_data({1});
  EXPECT_EQ(error_of([&] { onnx::refuse_conversion(view_of(short_one)); }).code(), Code::onnx_tensor_not_converted);
}

TEST(WireTypes, TwoFieldsOfValuesAreNamedInTheMessage) {
  const Message two = tensor("w", dtype::float64, {1}).double_data({1}).float_data({1});
  expect_error(error_of([&] { onnx::prove_value_fields(view_of(two)); }),
               {.code = Code::onnx_tensor_data_beside, .says = {"float_data and double_data"}});
}

// A TensorView that a program filled in from its own messages knows only that there is typed data.
TEST(WireTypes, TypedDataOfUnknownFieldIsCalledTypedData) {
  const Message raw = float_tensor(1).raw_data(pattern(4));
  TensorView both = view_of(raw);
  both.typed_data = true;
  expect_error(error_of([&] { onnx::prove_value_fields(both); }),
               {.code = Code::onnx_tensor_data_beside, .says = {"raw_data and typed data"}});
  const Message empty = float_tensor(0);
  TensorView none = view_of(empty);
  none.typed_data = true;
  expect_error(error_of([&] { onnx::prove_value_fields(none); }),
               {.code = Code::onnx_tensor_length, .says = {"typed data holds values"}});
}

}  // namespace
}  // namespace onnxar::testing
