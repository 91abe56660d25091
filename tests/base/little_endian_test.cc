// Numbers as little-endian bytes, on hosts of either byte order.
#include "base/little_endian.h"

#include <gtest/gtest.h>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

Blob bytes_of_values(std::initializer_list<unsigned> values) {
  Blob bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(LittleEndian, TheLowestByteIsFirst) {
  const Blob bytes = bytes_of_values({0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88});
  EXPECT_EQ(base::load<std::uint8_t>(bytes, 1), 0x01);
  EXPECT_EQ(base::load<std::uint16_t>(bytes, 1), 0x0201);
  EXPECT_EQ(base::load<std::uint32_t>(bytes, 1), 0x04030201U);
  EXPECT_EQ(base::load<std::uint64_t>(bytes, 1), 0x8807060504030201ULL);
}

TEST(LittleEndian, AppendedNumbersBeginWithTheirLowestByte) {
  Blob bytes;
  base::append(bytes, std::uint8_t{0x01});
  base::append(bytes, std::uint16_t{0x0302});
  base::append(bytes, std::uint32_t{0x87060504});
  base::append(bytes, std::uint64_t{0x8f0e0d0c0b0a0908});
  EXPECT_EQ(bytes, bytes_of_values({1, 2, 3, 4, 5, 6, 0x87, 8, 9, 10, 11, 12, 13, 14, 0x8f}));
}

TEST(LittleEndian, ANarrowNumberIsTheLowBytes) {
  Blob bytes;
  for (std::size_t width = 0; width <= 8; width += 2) base::append(bytes, std::uint64_t{0x0807060504030201}, width);
  EXPECT_EQ(bytes, bytes_of_values({1, 2, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace onnxar::testing
