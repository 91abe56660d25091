// `link_tensor` writes links into tensors of any generated class: full and lite messages, proto2 and proto3, on an
// arena.
#include <gmock/gmock.h>
#include <google/protobuf/arena.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "archive/opened.h"
#include "archive/other_runtime.pb.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/resolve.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::StartsWith;

template <typename Tensor>
class LinkTensor : public ::testing::Test {
 protected:
  /// A FLOAT tensor `t` of 4 elements that only has a link.
  LinkTensor() {
    tensor_.set_name("t");
    tensor_.set_data_type(1);
    tensor_.add_dims(4);
  }

  void expect_refused(Code code, std::string_view location, std::uint64_t offset, std::uint64_t length) {
    const std::string before = tensor_.SerializeAsString();
    const Error error = error_of([&] { link_tensor(tensor_, location, offset, length); });
    expect_error(error, code, "", std::nullopt);
    EXPECT_THAT(error.message(), StartsWith("tensor \"t\": "));
    EXPECT_EQ(tensor_.SerializeAsString(), before);
  }

  /// Compares with the same message written by this class, because proto3 packs dims.
  void expect_written(const Message& expected) {
    Tensor parsed;
    ASSERT_TRUE(parsed.ParseFromArray(expected.view().data(), static_cast<int>(expected.view().size())));
    EXPECT_EQ(tensor_.SerializeAsString(), parsed.SerializeAsString());
  }

  google::protobuf::Arena arena_;
  Tensor& tensor_ = *google::protobuf::Arena::CreateMessage<Tensor>(&arena_);
};

using TensorClasses = ::testing::Types<schema::TensorProto, other_runtime::Tensor>;
TYPED_TEST_SUITE(LinkTensor, TensorClasses);

TYPED_TEST(LinkTensor, IsWhatAWriterWritesAndResolveReads) {
  link_tensor(this->tensor_, "w", 0, 16);
  this->expect_written(tensor("t", dtype::float32, {4}).external("w", 0, 16));
  const Archive archive = opened(archive_of(model_of({}), {zip_entry("w", pattern(16))}).bytes);
  EXPECT_EQ(resolve(archive, this->tensor_)->data(), archive.resolve("w").data());
}

TYPED_TEST(LinkTensor, ReplacesDataOfEveryKind) {
  this->tensor_.set_raw_data("0123456789abcdef");
  this->tensor_.add_float_data(1);
  this->tensor_.add_int32_data(1);
  this->tensor_.add_string_data("s");
  this->tensor_.add_int64_data(1);
  this->tensor_.add_double_data(1);
  this->tensor_.add_uint64_data(1);
  link_tensor(this->tensor_, "w", 64, 16);
  this->expect_written(tensor("t", dtype::float32, {4}).external("w", 64, 16));
}

TYPED_TEST(LinkTensor, ReplacesAnotherLinkAndItsChecksum) {
  for (const auto& [key, value] : {std::pair("checksum", "abc"), std::pair("location", "old"), std::pair("x", "y")}) {
    auto* pair = this->tensor_.add_external_data();
    pair->set_key(key);
    pair->set_value(value);
  }
  link_tensor(this->tensor_, "w", 0, 16);
  ASSERT_EQ(this->tensor_.external_data_size(), 3);
  EXPECT_EQ(this->tensor_.external_data(0).key(), "location");
  EXPECT_EQ(this->tensor_.external_data(0).value(), "w");
  EXPECT_EQ(this->tensor_.external_data(1).key(), "offset");
  EXPECT_EQ(this->tensor_.external_data(1).value(), "0");
  EXPECT_EQ(this->tensor_.external_data(2).key(), "length");
  EXPECT_EQ(this->tensor_.external_data(2).value(), "16");
}

TYPED_TEST(LinkTensor, RefusesLinkThatNoReaderAccepts) {
  this->tensor_.set_raw_data("0123456789abcdef");
  this->expect_refused(Code::onnx_tensor_length, "w", 0, 15);
  this->expect_refused(Code::onnx_tensor_length, "w", 0, 17);
  this->expect_refused(Code::onnx_external_no_location, "", 0, 16);
  this->expect_refused(Code::onnx_external_marker, "#onnxar:1:0", 0, 16);
  this->expect_refused(Code::onnx_external_marker, "*/_ORT_MEM_ADDR_/*", 0, 16);
  this->tensor_.set_data_type(8);
  this->expect_refused(Code::onnx_external_string, "w", 0, 16);
  this->tensor_.set_data_type(1);
  this->tensor_.add_dims(-1);
  this->expect_refused(Code::onnx_tensor_dims, "w", 0, 16);
}

TYPED_TEST(LinkTensor, TheLargestNumbersArePlainDecimals) {
  this->tensor_.set_data_type(1000);  // a type whose length is not known
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  link_tensor(this->tensor_, "w", most, most);
  EXPECT_EQ(this->tensor_.external_data(1).value(), "18446744073709551615");
  EXPECT_EQ(this->tensor_.external_data(2).value(), "18446744073709551615");
}

}  // namespace
}  // namespace onnxar::testing
