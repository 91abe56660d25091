// Elements of less than 8 bits in their bytes: their order, their signs, and bits after the last one.
#include "onnx/packed_elements.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace onnxar::testing {
namespace {

std::vector<int> elements_in(DataType type, std::uint64_t count, const std::vector<unsigned>& bytes) {
  onnx::PackedElements elements(type, count);
  std::vector<int> found;
  for (const unsigned byte : bytes) {
    elements.add(std::byte(byte), [&](unsigned bits) { found.push_back(elements.value(bits)); });
  }
  return found;
}

using Ints = std::vector<int>;

TEST(PackedElements, FirstIsInTheLowestBits) {
  EXPECT_EQ(elements_in(DataType::uint4, 4, {0x21, 0x43}), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(elements_in(DataType::uint2, 4, {0b11'10'01'00}), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(elements_in(DataType::float6e2m3, 4, {0x81, 0x30, 0x10}), (Ints{1, 2, 3, 4}));
}

TEST(PackedElements, SignedTypesHaveNegativeNumbers) {
  EXPECT_EQ(elements_in(DataType::int4, 4, {0x87, 0xf0}), (Ints{7, -8, 0, -1}));
  EXPECT_EQ(elements_in(DataType::int2, 4, {0b11'10'01'00}), (Ints{0, 1, -2, -1}));
}

TEST(PackedElements, BitsAfterTheLastCountForNothing) {
  EXPECT_EQ(elements_in(DataType::uint4, 1, {0xf5}), (Ints{5}));
  EXPECT_EQ(elements_in(DataType::uint4, 3, {0x21, 0xf3, 0xff}), (Ints{1, 2, 3}));
  EXPECT_EQ(elements_in(DataType::uint4, 0, {0xff}), Ints());
}

}  // namespace
}  // namespace onnxar::testing
