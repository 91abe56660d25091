// The field and number of a tensor's values: exactly the tensors that ONNX's checker refuses are refused. The vectors
// of spec/vectors show each pair of fields, and each field with values of another type.
#include "onnx/tensor_values.h"

#include <gtest/gtest.h>

#include <string>

#include "onnx/error_of.h"
#include "onnxar/error.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using onnx::TensorView;

/// The id of the error in the values of this tensor, or empty.
std::string fault_of(const Message& tensor) {
  const TensorView view = onnx::read_tensor(tensor.view(), {0, tensor.size()});
  try {
    onnx::prove_type(view);
    onnx::prove_values(tensor.view(), view);
  } catch (const Error& error) {
    EXPECT_EQ(error.offset(), 0U);
    return std::string(id(error.code()));
  }
  return {};
}

std::string message_of(const Message& tensor) {
  const TensorView view = onnx::read_tensor(tensor.view(), {0, tensor.size()});
  return error_of([&] { onnx::prove_values(tensor.view(), view); }).message();
}

std::uint64_t surplus_of(const Message& tensor) {
  const TensorView view = onnx::read_tensor(tensor.view(), {0, tensor.size()});
  onnx::prove_values(tensor.view(), view);
  const auto surplus = onnx::surplus_values(tensor.view(), view);
  return surplus ? surplus->held - surplus->wanted : 0;
}

constexpr const char* length = "onnx.tensor.length";

TensorBuilder float_values(std::int64_t count) { return tensor("w", dtype::float32, {count}); }
TensorBuilder strings(std::int64_t count) { return tensor("s", dtype::string, {count}); }

TEST(TensorValues, InOneFieldAreGood) {
  EXPECT_EQ(fault_of(float_values(2).raw_data(pattern(8))), "");
  for (const Repeated form : {Repeated::packed, Repeated::unpacked}) {
    EXPECT_EQ(fault_of(float_values(2).float_data({1, 2}, form)), "");
    EXPECT_EQ(fault_of(tensor("w", dtype::complex128, {1}).double_data({1, 2}, form)), "");
    EXPECT_EQ(fault_of(tensor("w", dtype::bfloat16, {2}).int32_data({1, -1}, form)), "");
    EXPECT_EQ(fault_of(tensor("w", dtype::int64, {2}).int64_data({1, -1}, form)), "");
    EXPECT_EQ(fault_of(tensor("w", dtype::uint32, {2}).uint64_data({1, ~0ULL}, form)), "");
  }
  EXPECT_EQ(fault_of(strings(2).string_data({"", ""})), "");
}

TEST(TensorValues, MessagesNameTheFields) {
  EXPECT_NE(message_of(float_values(2).float_data({1, 2}).int32_data({1}).raw_data(pattern(8)))
                .find("raw_data, float_data and int32_data"),
            std::string::npos);
  EXPECT_EQ(message_of(float_values(2).int32_data({1, 2})),
            "its values are in int32_data; those of type FLOAT belong in float_data or raw_data");
  EXPECT_EQ(message_of(float_values(3).float_data({1, 2})),
            "float_data holds 2 values, but type FLOAT and the dimensions call for 3");
  EXPECT_EQ(message_of(float_values(0).raw_data(pattern(4))),
            "the dimensions call for no elements, but raw_data holds values");
  EXPECT_EQ(message_of(float_values(0).float_data({1})),
            "the dimensions call for no elements, but float_data holds values");
}

TEST(TensorValues, OfALaterTypeMayBeInAnyField) {
  EXPECT_EQ(fault_of(tensor("w", 99, {2}).int32_data({1, 2})), "");
  EXPECT_EQ(fault_of(tensor("w", 99, {1}).raw_data(pattern(4))), "");
}

TEST(TensorValues, FieldsThatHoldNothingAreBesideNothing) {
  EXPECT_EQ(fault_of(float_values(2).raw_data(pattern(8)).int32_data({})), "");
  EXPECT_EQ(fault_of(strings(1).string_data({"a"}).raw_data({})), "");
  EXPECT_EQ(fault_of(float_values(0).float_data({}).raw_data({})), "");
}

TEST(TensorValues, MustBeEnoughAndFillTheirBytesPackedOrNot) {
  for (const Repeated form : {Repeated::packed, Repeated::unpacked}) {
    EXPECT_EQ(fault_of(float_values(3).float_data({1, 2}, form)), length);
    EXPECT_EQ(fault_of(tensor("w", dtype::int32, {3}).int32_data({-1, -1}, form)), length) << "of ten bytes each";
    EXPECT_EQ(fault_of(tensor("w", dtype::int4, {3}).int32_data({1}, form)), length);
    EXPECT_EQ(fault_of(tensor("w", dtype::int4, {3}).int32_data({1, 2}, form)), "");
    EXPECT_EQ(fault_of(tensor("w", dtype::uint2, {4}).int32_data({1}, form)), "");
    EXPECT_EQ(fault_of(tensor("w", dtype::uint2, {5}).int32_data({1}, form)), length);
  }
}

TEST(TensorValues, CountsValuesBeyondTheShape) {
  EXPECT_EQ(surplus_of(float_values(2).float_data({1, 2})), 0U);
  EXPECT_EQ(surplus_of(float_values(2).float_data({1, 2, 3})), 1U);
  EXPECT_EQ(surplus_of(tensor("w", dtype::int4, {3}).int32_data({1, 2, 3, 4}, Repeated::unpacked)), 2U);
  EXPECT_EQ(surplus_of(strings(1).string_data({"a", "b"})), 1U);
  EXPECT_EQ(surplus_of(float_values(2).raw_data(pattern(9))), 0U) << "no typed data";
}

TEST(TensorView, LacksDataWhereItHasElementsAndNoFieldHoldsAny) {
  const auto lacks = [](const Message& tensor) {
    return onnx::read_tensor(tensor.view(), {0, tensor.size()}).lacks_data();
  };
  EXPECT_TRUE(lacks(float_values(2)));
  EXPECT_TRUE(lacks(float_values(1).raw_data({})));
  EXPECT_FALSE(lacks(float_values(1).float_data({1})));
  EXPECT_TRUE(lacks(strings(2)));
  EXPECT_TRUE(lacks(tensor("w", 99, {2})));
  EXPECT_TRUE(lacks(tensor("w", dtype::float32, {})));
  EXPECT_FALSE(lacks(float_values(0)));
  EXPECT_FALSE(lacks(strings(2).string_data({"", ""})));
  EXPECT_FALSE(lacks(float_values(2).external("w")));
}

TEST(RequiredAmount, NamesTheTypeAndTheNumber) {
  EXPECT_EQ(onnx::required_amount(DataType::float32, 12), "type FLOAT and the dimensions call for 12");
  EXPECT_EQ(onnx::required_amount(DataType::string, "elements"), "type STRING and the dimensions call for elements");
}

TEST(LengthFault, StatesActualAndRequiredAmount) {
  const Error error = onnx::length_fault("raw_data holds 8 bytes", DataType::float32, 12, {"", 77});
  EXPECT_EQ(error.code(), Code::onnx_tensor_length);
  EXPECT_EQ(error.offset(), 77U);
  EXPECT_EQ(error.message(), "raw_data holds 8 bytes, but type FLOAT and the dimensions call for 12");
}

}  // namespace
}  // namespace onnxar::testing
