// Encoded fields equal those of an independent builder, and read back.
#include "wire/encode.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// Both sides of every place where a varint grows by a byte.
std::vector<std::uint64_t> border_values() {
  std::vector<std::uint64_t> values = {0, 1, std::numeric_limits<std::uint64_t>::max()};
  for (unsigned bits = 7; bits < 64; bits += 7) {
    values.push_back((1ULL << bits) - 1);
    values.push_back(1ULL << bits);
  }
  return values;
}

TEST(Encode, VarintsAreAsShortAsCanBe) {
  for (const std::uint64_t value : border_values()) {
    std::string out = "x";
    wire::append_varint(out, value);
    EXPECT_EQ(out, "x" + Message().raw_varint(value).str()) << value;
    EXPECT_EQ(out.size() - 1, wire::varint_size(value)) << value;
  }
}

TEST(Encode, TheSizeOfAVarintChangesAtEverySeventhBit) {
  EXPECT_EQ(wire::varint_size(0), 1U);
  EXPECT_EQ(wire::varint_size(127), 1U);
  EXPECT_EQ(wire::varint_size(128), 2U);
  EXPECT_EQ(wire::varint_size(16383), 2U);
  EXPECT_EQ(wire::varint_size(16384), 3U);
  EXPECT_EQ(wire::varint_size(std::numeric_limits<std::uint64_t>::max()), 10U);
}

TEST(Encode, AVarintIsAtLeastAsWideAsAsked) {
  for (const std::uint64_t value : border_values()) {
    for (std::size_t width = 1; width <= 10; ++width) {
      std::string out;
      wire::append_varint(out, value, width);
      EXPECT_EQ(out, Message().raw_varint(value, width).str()) << value << " in " << width;
    }
  }
}

TEST(Encode, FieldsAreTagAndValue) {
  std::string out;
  wire::append_tag(out, 2000, wire::Type::fixed64);
  wire::append_varint_field(out, 14, 1);
  wire::append_varint_field(out, 1, std::numeric_limits<std::uint64_t>::max());
  wire::append_bytes_field(out, 13, std::string(200, 'a'));
  wire::append_bytes_field(out, 1, "");
  const Message expected = Message()
                               .tag(2000, wire_type::fixed64)
                               .varint(14, 1)
                               .signed_varint(1, -1)
                               .string(13, std::string(200, 'a'))
                               .string(1, "");
  EXPECT_EQ(out, expected.str());
}

TEST(Encode, TheLargestTagIsWritten) {
  std::string out;
  wire::append_tag(out, (1U << 29U) - 1, wire::Type::fixed32);
  EXPECT_EQ(out, Message().tag((1U << 29U) - 1, wire_type::fixed32).str());
  EXPECT_EQ(out.size(), 5U);
}

}  // namespace
}  // namespace onnxar::testing
