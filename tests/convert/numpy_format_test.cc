// Tests the headers of .npy files.
#include "convert/numpy_format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// The elements in the form of a `.npy`, as small numbers.
std::vector<int> spread(DataType type, Blob packed, std::uint64_t count) {
  const auto source = numpy_elements(std::make_shared<SpanSource>(packed), type, count);
  std::vector<int> values;
  source->read([&values](Bytes piece) {
    for (const std::byte byte : piece) values.push_back(static_cast<std::int8_t>(byte));
  });
  EXPECT_EQ(source->size(), values.size());
  return values;
}

TEST(NumpyHeader, IsPaddedToAMultipleOf64Bytes) {
  const std::string header = numpy_header("<f4", {3, 4});
  EXPECT_EQ(header.size(), 128U);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\0\x76\0", 10));
  EXPECT_EQ(header.substr(10, 61), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  ");
  EXPECT_EQ(header.back(), '\n');
}

TEST(NumpyHeader, OneDimensionHasAComma) {
  EXPECT_NE(numpy_header("|u1", {3}).find("'shape': (3,), }"), std::string::npos);
  EXPECT_NE(numpy_header("|u1", {}).find("'shape': (), }"), std::string::npos);
}

TEST(NumpyElements, SmallElementsGetAByteEachFromTheLowestBit) {
  EXPECT_EQ(spread(DataType::uint4, {std::byte{0xF1}, std::byte{0x02}}, 3), (std::vector<int>{1, 15, 2}));
  EXPECT_EQ(spread(DataType::uint2, {std::byte{0xE4}}, 4), (std::vector<int>{0, 1, 2, 3}));
}

TEST(NumpyElements, SixBitsCrossBytes) {
  const Blob packed = {std::byte{0xC1}, std::byte{0x0F}, std::byte{0x56},
                       std::byte{0xEA}};  // the last 2 bits are unused
  EXPECT_EQ(spread(DataType::float6e2m3, packed, 5), (std::vector<int>{0x01, 0x3f, 0x20, 0x15, 0x2a}));
  EXPECT_EQ(spread(DataType::float6e3m2, packed, 3), (std::vector<int>{0x01, 0x3f, 0x20}));
}

TEST(NumpyElements, SignsAreExtended) {
  EXPECT_EQ(spread(DataType::int4, {std::byte{0xF7}, std::byte{0x08}}, 3), (std::vector<int>{7, -1, -8}));
  EXPECT_EQ(spread(DataType::int2, {std::byte{0xE4}}, 4), (std::vector<int>{0, 1, -2, -1}));
}

TEST(NumpyElements, OtherElementsAreTheSameSource) {
  const Blob data = pattern(8);
  const auto source = std::make_shared<SpanSource>(data);
  EXPECT_EQ(numpy_elements(source, DataType::float32, 2), source);
}

}  // namespace
}  // namespace onnxar::testing
