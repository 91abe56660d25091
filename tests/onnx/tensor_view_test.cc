// A tensor is read as protobuf reads it: fields in any order and encoding, and the last of each kind counts.
#include "onnx/tensor_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "onnx/error_of.h"
#include "onnx/fields.h"
#include "support/guarded_buffer.h"
#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

/// Bytes before the tensor, so that positions are those in the model.
constexpr std::uint64_t before = 100;

/// A tensor within a model's bytes, which end where the tensor does.
class ReadTensor {
 public:
  explicit ReadTensor(const Message& tensor)
      : buffer_(GuardedBuffer::ending_at_guard(Message().raw(Blob(before)).raw(tensor).view())),
        view_(onnx::read_tensor(buffer_.bytes(), {before, buffer_.bytes().size()})) {}

  const onnx::TensorView* operator->() const { return &view_; }
  [[nodiscard]] Bytes raw_data() const { return view_.raw_data->of(buffer_.bytes()); }

 private:
  GuardedBuffer buffer_;
  onnx::TensorView view_;
};

void expect_tensor_refused(const Message& tensor, Code code, std::uint64_t offset) {
  expect_error(error_of([&tensor] { const ReadTensor read(tensor); }), {.code = code, .offset = before + offset});
}

bool has_typed_data(const Message& tensor) { return ReadTensor(tensor)->typed_data; }

TEST(TensorView, AnEmptyTensorIsAllDefaults) {
  const ReadTensor tensor{Message()};
  EXPECT_EQ(tensor->name, "");
  EXPECT_EQ(tensor->type, DataType::undefined);
  EXPECT_TRUE(tensor->dims.empty());
  EXPECT_FALSE(tensor->raw_data || tensor->typed_data || tensor->segment || tensor->is_external());
  EXPECT_FALSE(tensor->external.location || tensor->external.unknown_key);
  EXPECT_EQ(tensor->range, (onnx::Range{before, before}));
}

TEST(TensorView, FieldsAreReadInAnyOrder) {
  const TensorBuilder builder = tensor("w", dtype::float32, {2, 3}).raw_data(pattern(24)).doc_string("d");
  for (const std::vector<std::uint32_t>& order : {std::vector<std::uint32_t>{}, {9, 8, 2, 1}, {12, 8, 9}, {2, 9}}) {
    const ReadTensor tensor(TensorBuilder(builder).order(order));
    EXPECT_EQ(tensor->name, "w");
    EXPECT_EQ(tensor->type, DataType::float32);
    EXPECT_THAT(tensor->dims, ElementsAre(2, 3));
    EXPECT_EQ(tensor->expected_size(), 24U);
    EXPECT_TRUE(std::ranges::equal(tensor.raw_data(), pattern(24)));
  }
}

TEST(TensorView, LinksOnlyToLocationOfExternalData) {
  const TensorBuilder builder = tensor("w", dtype::uint8, {1}).external_data("location", "file");
  EXPECT_EQ(ReadTensor(TensorBuilder(builder).data_location(1))->linked_location(), "file");
  EXPECT_EQ(ReadTensor(TensorBuilder(builder).data_location(0))->linked_location(), std::nullopt);
  EXPECT_EQ(ReadTensor(builder)->linked_location(), std::nullopt);
  EXPECT_EQ(ReadTensor(tensor("w", dtype::uint8, {1}).data_location(1))->linked_location(), std::nullopt);
}

TEST(TensorView, TheLastOfAKindHolds) {
  const ReadTensor tensor(Message()
                              .varint(tensor_field::data_type, dtype::int8)
                              .string(tensor_field::name, "first")
                              .string(tensor_field::raw_data, "aaaa")
                              .varint(tensor_field::data_location, 1)
                              .varint(tensor_field::data_type, dtype::uint8)
                              .string(tensor_field::name, "second")
                              .string(tensor_field::raw_data, "b")
                              .varint(tensor_field::data_location, 0));
  EXPECT_EQ(tensor->type, DataType::uint8);
  EXPECT_EQ(tensor->name, "second");
  EXPECT_EQ(as_text(tensor.raw_data()), "b");
  EXPECT_FALSE(tensor->is_external());
}

TEST(TensorView, DimensionsMayBePackedOrNotOrBoth) {
  EXPECT_THAT(ReadTensor(tensor("w", dtype::float32, {2, 300, 5}))->dims, ElementsAre(2, 300, 5));
  EXPECT_THAT(ReadTensor(tensor("w", dtype::float32, {2, 300, 5}).packed_dims())->dims, ElementsAre(2, 300, 5));
  EXPECT_THAT(ReadTensor(Message().varint(1, 2).packed_varints(1, {3, 4}).packed_varints(1, {}).varint(1, 5))->dims,
              ElementsAre(2, 3, 4, 5));
}

TEST(TensorView, ANegativeDimensionIsRefusedAtItsField) {
  expect_tensor_refused(Message().varint(1, 2).signed_varint(1, -1), Code::onnx_tensor_dims, 2);
  const auto negative = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min());
  expect_tensor_refused(Message().varint(2, 1).packed_varints(1, {3, negative}), Code::onnx_tensor_dims, 2);
}

TEST(TensorView, MoreThan1024DimensionsAreRefused) {
  Message dims = Message().packed_varints(1, std::vector<std::uint64_t>(1024, 1));
  EXPECT_EQ(ReadTensor(dims)->dims.size(), 1024U);
  const std::size_t size = dims.size();
  expect_tensor_refused(dims.varint(1, 1), Code::onnx_tensor_dims, size);
}

TEST(TensorView, RefusesShapeWithOverflowingSizeAtTheTensor) {
  const Dims huge = {1LL << 40, 1LL << 40};
  expect_tensor_refused(tensor("w", dtype::uint8, huge), Code::onnx_tensor_dims, 0);
  expect_tensor_refused(tensor("w", dtype::float64, {1LL << 61}), Code::onnx_tensor_dims, 0);
  // The library gives no size for these types.
  EXPECT_EQ(ReadTensor(tensor("w", dtype::string, huge))->expected_size(), std::nullopt);
  EXPECT_EQ(ReadTensor(tensor("w", dtype::string, {0}))->expected_size(), std::nullopt);
  EXPECT_EQ(ReadTensor(tensor("w", 99, huge))->expected_size(), std::nullopt);
}

TEST(TensorView, DataTypeIsTruncatedTo32BitsLikeInProtobuf) {
  const auto number_of = [](const Message& tensor) { return static_cast<std::int32_t>(ReadTensor(tensor)->type); };
  EXPECT_EQ(number_of(tensor("w", 1000, {})), 1000);
  EXPECT_EQ(number_of(Message().signed_varint(tensor_field::data_type, -1)), -1);
  EXPECT_EQ(number_of(Message().varint(tensor_field::data_type, (1ULL << 32U) + 1)), 1);
}

TEST(TensorView, EveryTypedFieldIsTypedDataPackedOrNot) {
  for (const Repeated form : {Repeated::packed, Repeated::unpacked}) {
    EXPECT_TRUE(has_typed_data(tensor("w", dtype::float32, {1}).float_data({1}, form)));
    EXPECT_TRUE(has_typed_data(tensor("w", dtype::float64, {1}).double_data({1}, form)));
    EXPECT_TRUE(has_typed_data(tensor("w", dtype::int32, {1}).int32_data({1}, form)));
    EXPECT_TRUE(has_typed_data(tensor("w", dtype::int64, {1}).int64_data({1}, form)));
    EXPECT_TRUE(has_typed_data(tensor("w", dtype::uint64, {1}).uint64_data({1}, form)));
  }
  EXPECT_TRUE(has_typed_data(tensor("w", dtype::string, {1}).string_data({"x"})));
}

TEST(TensorView, AnEmptyStringIsDataAndAnEmptyRunIsNot) {
  EXPECT_FALSE(has_typed_data(tensor("w", dtype::float32, {0}).float_data({}, Repeated::packed)));
  EXPECT_TRUE(has_typed_data(tensor("w", dtype::string, {1}).string_data({""})));
}

TEST(TensorView, EmptyRawDataIsPresent) {
  const ReadTensor zero(tensor("w", dtype::float32, {0}).raw_data({}));
  ASSERT_TRUE(zero->raw_data);
  EXPECT_EQ(zero->raw_data->size(), 0U);
}

TEST(TensorView, ExternalDataAndSegmentsAreSeen) {
  const ReadTensor tensor(testing::tensor("w", dtype::float32, {4}).external("w.bin", 64, 16).segment(0, 4));
  EXPECT_TRUE(tensor->is_external());
  EXPECT_TRUE(tensor->segment);
  EXPECT_EQ(tensor->external.location, "w.bin");
  EXPECT_EQ(tensor->external.offset, "64");
  EXPECT_EQ(tensor->external.length, "16");
}

// Only data_location does.
TEST(TensorView, ExternalDataDoesNotMakeATensorExternal) {
  const ReadTensor tensor(testing::tensor("w", dtype::float32, {1}).external_data("location", "stale"));
  EXPECT_FALSE(tensor->is_external());
  EXPECT_EQ(tensor->external.location, "stale");
}

TEST(TensorView, FieldsOfAnotherWireTypeAreUnknownFields) {
  const ReadTensor tensor(Message()
                              .fixed32(tensor_field::dims, 5)
                              .fixed32(tensor_field::data_type, 1)
                              .varint(tensor_field::name, 1)
                              .varint(tensor_field::raw_data, 1)
                              .varint(tensor_field::external_data, 1)
                              .fixed64(tensor_field::data_location, 1)
                              .varint(tensor_field::segment, 1)
                              .string(900, "unknown"));
  EXPECT_TRUE(tensor->dims.empty());
  EXPECT_EQ(tensor->type, DataType::undefined);
  EXPECT_EQ(tensor->name, "");
  EXPECT_FALSE(tensor->raw_data || tensor->segment || tensor->is_external());
  EXPECT_FALSE(tensor->external.location || tensor->external.unknown_key);
}

TEST(TensorView, IsRestorableIfMovingDataRestoresTheBytes) {
  const auto restorable = [](const Message& tensor) { return ReadTensor(tensor)->restorable; };
  const TensorBuilder plain = tensor("w", dtype::int8, {4}).raw_data(pattern(4)).doc_string("d").metadata("k", "v");
  EXPECT_TRUE(restorable(plain));
  EXPECT_TRUE(restorable(TensorBuilder(plain).packed_dims()));
  EXPECT_TRUE(restorable(plain.message().fixed32(900, 1).string(901, "unknown")));
  EXPECT_FALSE(restorable(TensorBuilder(plain).order({tensor_field::raw_data})));
  const std::vector<std::uint32_t> raw_data_late = {tensor_field::dims, tensor_field::data_type, tensor_field::name,
                                                    tensor_field::doc_string};
  EXPECT_FALSE(restorable(TensorBuilder(plain).order(raw_data_late)));
  EXPECT_FALSE(restorable(TensorBuilder(plain).raw_data(pattern(4))));
  EXPECT_FALSE(restorable(TensorBuilder(plain).external_data("location", "stale")));
  EXPECT_TRUE(restorable(TensorBuilder(plain).data_location(0))) << "it stays";
  EXPECT_FALSE(restorable(TensorBuilder(plain).data_location(1).data_location(0)));
  EXPECT_FALSE(restorable(Message().padded_length_bytes(tensor_field::raw_data, pattern(4), 2)));
  EXPECT_FALSE(
      restorable(Message().padded_tag(tensor_field::raw_data, wire_type::length, 2).raw_varint(4).raw(pattern(4))));
  EXPECT_FALSE(restorable(TensorBuilder(plain).float_data({}))) << "an empty run goes with the data";
}

TEST(TensorView, EveryTruncationIsRefusedOrEndsBetweenFields) {
  const Message whole = tensor("w", dtype::float32, {2, 3}).packed_dims().raw_data(pattern(24)).external("a", 1, 2);
  std::size_t refused = 0;
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    try {
      const ReadTensor read(Message().raw(Bytes(whole.view()).first(cut)));
    } catch (const Error& error) {
      EXPECT_EQ(id(error.code()), "wire.truncated") << cut;
      ++refused;
    }
  }
  const std::size_t borders = 8;  // before each field: dims, type, name, raw_data, three pairs, data_location
  EXPECT_EQ(refused, whole.size() - borders);
}

// Which fields of a TensorProto hold its data, by number and wire type.

using onnx::Type;

onnx::Field field_of(std::uint32_t number, Type type, std::uint64_t size, std::uint64_t value = 0) {
  onnx::Field field;
  field.number = number;
  field.type = type;
  field.value = {10, 10 + size};
  field.number_value = value;
  return field;
}

TEST(TypedDataField, IsAValueOrARunOfTheTypeThatTheSchemaHas) {
  const std::pair<std::uint32_t, Type> own[] = {
      {4, Type::fixed32}, {5, Type::varint}, {7, Type::varint}, {10, Type::fixed64}, {11, Type::varint}};
  for (const auto& [number, type] : own) {
    EXPECT_TRUE(onnx::is_typed_data_field(field_of(number, type, 1))) << number;
    EXPECT_TRUE(onnx::is_typed_data_field(field_of(number, Type::length_delimited, 4))) << number;
    EXPECT_FALSE(onnx::is_typed_data_field(field_of(number, Type::length_delimited, 0))) << number;
    for (const Type other : {Type::varint, Type::fixed32, Type::fixed64}) {
      EXPECT_EQ(onnx::is_typed_data_field(field_of(number, other, 4)), other == type) << number;
    }
  }
  EXPECT_TRUE(onnx::is_typed_data_field(field_of(6, Type::length_delimited, 0)));  // an empty string is a value
  EXPECT_FALSE(onnx::is_typed_data_field(field_of(9, Type::length_delimited, 4)));
}

TEST(DataLocation, IsOneOfTwoValuesOf32Bits) {
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::varint, 1, 0)), 0U);
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::varint, 1, 1)), 1U);
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::varint, 6, (1ULL << 32U) + 1)), 1U);
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::varint, 1, 2)), std::nullopt);
  EXPECT_EQ(onnx::data_location_of(field_of(14, Type::fixed32, 4, 1)), std::nullopt);
  EXPECT_EQ(onnx::data_location_of(field_of(13, Type::varint, 1, 1)), std::nullopt);
}

TEST(MovesWithData, AreDataAndItsLocationAndNothingElse) {
  for (const std::uint32_t number : {4U, 5U, 7U, 9U, 10U, 11U, 13U}) {
    EXPECT_TRUE(onnx::moves_with_data(field_of(number, Type::length_delimited, 0))) << number;
  }
  EXPECT_TRUE(onnx::moves_with_data(field_of(14, Type::varint, 1, 1)));
  EXPECT_TRUE(onnx::moves_with_data(field_of(5, Type::varint, 1, 1)));
  EXPECT_FALSE(onnx::moves_with_data(field_of(14, Type::varint, 1, 0)));
  EXPECT_FALSE(onnx::moves_with_data(field_of(14, Type::varint, 1, 2)));
  EXPECT_FALSE(onnx::moves_with_data(field_of(9, Type::varint, 1)));
  for (const std::uint32_t number : {1U, 2U, 6U, 8U, 12U}) {
    EXPECT_FALSE(onnx::moves_with_data(field_of(number, Type::length_delimited, 4))) << number;
  }
}

}  // namespace

}  // namespace onnxar::testing
