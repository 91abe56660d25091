// Protobuf as the oracle: typed fields become the raw bytes of the values that protobuf reads.
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "onnx/typed_data.h"
#include "support/random_models.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using schema::TensorProto;

/// The values as little-endian bytes.
template <typename T, typename Values>
std::string raw_bytes_of(const Values& values) {
  return text_of(little_endian_bytes(std::vector<T>(values.begin(), values.end())));
}

/// A tensor of `type` with `count` values in the type's field, and their raw bytes.
struct TypedTensor {
  TensorProto proto;
  std::string raw;
};

TypedTensor typed_tensor(TensorProto::DataType type, std::size_t count, Random& random) {
  TypedTensor made;
  TensorProto& tensor = made.proto;
  tensor.set_data_type(type);
  tensor.add_dims(static_cast<std::int64_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = ((std::uint64_t{random()} << 32U) | random()) >> below(random, 64);
    switch (type) {
      case TensorProto::FLOAT: tensor.add_float_data(std::bit_cast<float>(static_cast<std::uint32_t>(bits))); break;
      case TensorProto::DOUBLE: tensor.add_double_data(std::bit_cast<double>(bits)); break;
      case TensorProto::INT64: tensor.add_int64_data(static_cast<std::int64_t>(bits)); break;
      case TensorProto::UINT64: tensor.add_uint64_data(bits); break;
      case TensorProto::UINT32: tensor.add_uint64_data(bits & 0xffffffff); break;
      case TensorProto::INT32: tensor.add_int32_data(static_cast<std::int32_t>(bits)); break;
      case TensorProto::INT16: tensor.add_int32_data(static_cast<std::int16_t>(bits)); break;
      case TensorProto::INT8: tensor.add_int32_data(static_cast<std::int8_t>(bits)); break;
      case TensorProto::FLOAT16: tensor.add_int32_data(static_cast<std::uint16_t>(bits)); break;
      case TensorProto::BOOL: tensor.add_int32_data(static_cast<std::int32_t>(bits & 1U)); break;
      default: tensor.add_int32_data(static_cast<std::uint8_t>(bits)); break;
    }
  }
  switch (type) {
    case TensorProto::FLOAT: made.raw = raw_bytes_of<float>(tensor.float_data()); break;
    case TensorProto::DOUBLE: made.raw = raw_bytes_of<double>(tensor.double_data()); break;
    case TensorProto::INT64: made.raw = raw_bytes_of<std::int64_t>(tensor.int64_data()); break;
    case TensorProto::UINT64: made.raw = raw_bytes_of<std::uint64_t>(tensor.uint64_data()); break;
    case TensorProto::UINT32: made.raw = raw_bytes_of<std::uint32_t>(tensor.uint64_data()); break;
    case TensorProto::INT32: made.raw = raw_bytes_of<std::int32_t>(tensor.int32_data()); break;
    case TensorProto::INT16:
    case TensorProto::FLOAT16: made.raw = raw_bytes_of<std::uint16_t>(tensor.int32_data()); break;
    default: made.raw = raw_bytes_of<std::uint8_t>(tensor.int32_data()); break;
  }
  return made;
}

TEST(TypedDataOracle, TypedDataIsConvertedToWhatProtobufReads) {
  Random random(5);
  for (const auto type : {TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::INT64, TensorProto::UINT64,
                          TensorProto::UINT32, TensorProto::INT32, TensorProto::INT16, TensorProto::INT8,
                          TensorProto::FLOAT16, TensorProto::BOOL, TensorProto::UINT8, TensorProto::FLOAT8E5M2}) {
    for (std::size_t count = 0; count < 30; ++count) {
      const TypedTensor made = typed_tensor(type, count, random);
      const Message spelt = respelt(made.proto.SerializeAsString(), *TensorProto::descriptor(), random);
      const auto source = onnx::typed_data_source(spelt.view(), onnx::read_tensor(spelt.view(), {0, spelt.size()}));
      ASSERT_NE(source, nullptr) << TensorProto::DataType_Name(type) << " x " << count;
      std::string raw;
      source->read([&raw](Bytes piece) { raw += as_text(piece); });
      EXPECT_EQ(raw, made.raw) << TensorProto::DataType_Name(type);
    }
  }
}

}  // namespace
}  // namespace onnxar::testing
