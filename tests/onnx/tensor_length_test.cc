// The sentences about the amount of data of a tensor.
#include <gtest/gtest.h>

#include "onnx/tensor_view.h"

namespace onnxar::testing {
namespace {

TEST(RequiredAmount, NamesTheTypeAndTheNumber) {
  EXPECT_EQ(onnx::required_amount(DataType::float32, 12), "type FLOAT and the dimensions call for 12");
  EXPECT_EQ(onnx::required_amount(DataType::string, "elements"), "type STRING and the dimensions call for elements");
}

TEST(LengthFault, SaysWhatThereIsAndWhatIsCalledFor) {
  const Error error = onnx::length_fault("raw_data holds 8 bytes", DataType::float32, 12, {"", 77});
  EXPECT_EQ(error.code(), Code::onnx_tensor_length);
  EXPECT_EQ(error.offset(), 77U);
  EXPECT_EQ(error.message(), "raw_data holds 8 bytes, but type FLOAT and the dimensions call for 12");
}

}  // namespace
}  // namespace onnxar::testing
