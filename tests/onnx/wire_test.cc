// The cursor finds fields at their positions, and refuses bytes that are not a protobuf message with their offset.
#include "onnx/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "onnx/error_of.h"
#include "support/guarded_buffer.h"
#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

constexpr std::uint64_t largest_value = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t largest_number = (1U << 29U) - 1;

std::vector<onnx::Field> fields_in(Bytes buffer, onnx::Range range) {
  std::vector<onnx::Field> fields;
  onnx::Cursor cursor(buffer, range);
  for (onnx::Field field; cursor.next(field);) fields.push_back(field);
  return fields;
}

std::vector<onnx::Field> all_fields_of(Bytes message) { return fields_in(message, {0, message.size()}); }

/// The only field of `message`, which ends at a page that cannot be read.
onnx::Field only_field(const Message& message) {
  const GuardedBuffer buffer = GuardedBuffer::ending_at_guard(message.view());
  const std::vector<onnx::Field> fields = all_fields_of(buffer.bytes());
  if (fields.size() != 1) throw std::logic_error("not one field");
  return fields.front();
}

void expect_refused(const Message& message, Code code, std::uint64_t offset) {
  const GuardedBuffer buffer = GuardedBuffer::ending_at_guard(message.view());
  expect_error(error_of([&buffer] { all_fields_of(buffer.bytes()); }), {.code = code, .entry = "", .offset = offset});
}

/// A field before the tested one, so that an offset of 0 is never correct by accident.
Message after_three_bytes() { return Message().varint(1, 300); }

TEST(Cursor, AnEmptyMessageHasNoFields) { EXPECT_TRUE(all_fields_of({}).empty()); }

TEST(Cursor, AVarintIsReadWithItsPlace) {
  const onnx::Field field = only_field(Message().varint(5, 300));
  EXPECT_EQ(field.number, 5U);
  EXPECT_EQ(field.type, onnx::Type::varint);
  EXPECT_EQ(field.number_value, 300U);
  EXPECT_EQ(field.whole, (onnx::Range{0, 3}));
  EXPECT_EQ(field.value, (onnx::Range{1, 3}));
  EXPECT_EQ(field.length.size(), 0U);
}

TEST(Cursor, VarintsOfEveryLengthAreRead) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const std::uint64_t value = bits == 64 ? largest_value : (1ULL << bits) - 1;
    EXPECT_EQ(only_field(Message().varint(1, value)).number_value, value);
    EXPECT_EQ(only_field(Message().varint(1, value / 2 + 1)).number_value, value / 2 + 1);
  }
}

TEST(Cursor, FixedNumbersAreLittleEndian) {
  const onnx::Field four = only_field(Message().fixed32(2, 0x04030201));
  EXPECT_EQ(four.type, onnx::Type::fixed32);
  EXPECT_EQ(four.number_value, 0x04030201U);
  EXPECT_EQ(four.value, (onnx::Range{1, 5}));
  const onnx::Field eight = only_field(Message().fixed64(2, 0x0807060504030201));
  EXPECT_EQ(eight.type, onnx::Type::fixed64);
  EXPECT_EQ(eight.number_value, 0x0807060504030201U);
  EXPECT_EQ(eight.whole, (onnx::Range{0, 9}));
}

TEST(Cursor, SeparatesTagLengthAndValue) {
  const Message message = Message().bytes(3, pattern(200));
  const onnx::Field field = only_field(message);
  EXPECT_EQ(field.type, onnx::Type::length_delimited);
  EXPECT_EQ(field.length, (onnx::Range{1, 3}));
  EXPECT_EQ(field.value, (onnx::Range{3, 203}));
  EXPECT_EQ(field.whole, (onnx::Range{0, 203}));
  EXPECT_TRUE(std::ranges::equal(field.value.of(message.view()), pattern(200)));
}

TEST(Cursor, AnEmptyValueIsAField) {
  const onnx::Field field = only_field(Message().string(3, ""));
  EXPECT_EQ(field.length, (onnx::Range{1, 2}));
  EXPECT_EQ(field.value, (onnx::Range{2, 2}));
}

TEST(Cursor, TheLargestFieldNumberIsRead) {
  EXPECT_EQ(only_field(Message().varint(largest_number, 1)).number, largest_number);
}

TEST(Cursor, ReadsVarintsThatAreLongerThanNecessary) {
  const onnx::Field number = only_field(Message().padded_varint(1, 5, 10));
  EXPECT_EQ(number.number_value, 5U);
  EXPECT_EQ(number.value.size(), 10U);
  const onnx::Field text = only_field(Message().padded_length_bytes(2, blob("ab"), 5));
  EXPECT_EQ(text.length, (onnx::Range{1, 6}));
  EXPECT_EQ(text.value, (onnx::Range{6, 8}));
  const onnx::Field tag = only_field(Message().padded_tag(7, wire_type::varint, 3).raw_varint(9));
  EXPECT_EQ(tag.number, 7U);
  EXPECT_EQ(tag.value, (onnx::Range{3, 4}));
}

TEST(Cursor, FieldsFollowEachOtherInTheOrderOfTheWire) {
  const Message message = Message().string(9, "x").varint(1, 2).fixed32(4, 3).fixed64(9, 4).string(1, "");
  std::vector<std::uint32_t> numbers;
  std::uint64_t position = 0;
  for (const onnx::Field& field : all_fields_of(message.view())) {
    EXPECT_EQ(field.whole.begin, position);
    position = field.whole.end;
    numbers.push_back(field.number);
  }
  EXPECT_THAT(numbers, ::testing::ElementsAre(9, 1, 4, 9, 1));
  EXPECT_EQ(position, message.size());
}

TEST(Cursor, StopsAtTheRangeAndCountsFromTheBuffer) {
  const Message message = Message().varint(1, 1).string(2, "inner").varint(3, 1);
  const onnx::Field inner = all_fields_of(message.view()).at(1);
  EXPECT_EQ(inner.whole, (onnx::Range{2, 9}));
  // The bytes after the range are readable, but must not be read.
  for (std::uint64_t end = 3; end < inner.whole.end; ++end) {
    const Error error = error_of([&] { fields_in(message.view(), {2, end}); });
    EXPECT_EQ(id(error.code()), "wire.truncated") << end;
  }
}

TEST(Cursor, EveryTruncationInsideAFieldIsRefused) {
  const Message message =
      Message().varint(1, largest_value).fixed32(2000, 1).fixed64(3, 2).bytes(4, pattern(130)).padded_varint(5, 1, 10);
  std::vector<std::uint64_t> borders = {0};
  for (const onnx::Field& field : all_fields_of(message.view())) borders.push_back(field.whole.end);
  std::uint64_t begin = 0;  // of the field that the cut goes through
  for (std::size_t cut = 0; cut < message.size(); ++cut) {
    const Bytes rest = Bytes(message.view()).first(cut);
    const GuardedBuffer buffer = GuardedBuffer::ending_at_guard(rest);
    if (std::ranges::find(borders, cut) != borders.end()) {
      begin = cut;
      EXPECT_NO_THROW(all_fields_of(buffer.bytes())) << cut;
      continue;
    }
    const Error error = error_of([&buffer] { all_fields_of(buffer.bytes()); });
    EXPECT_EQ(id(error.code()), "wire.truncated") << cut;
    EXPECT_GE(error.offset(), begin) << cut;
    EXPECT_LE(error.offset(), cut) << cut;
  }
}

TEST(Cursor, RefusesLengthBeyondTheMessageAtItsField) {
  for (const std::uint64_t length :
       std::vector<std::uint64_t>{4, 1ULL << 31U, 1ULL << 32U, 1ULL << 63U, largest_value - 2, largest_value}) {
    expect_refused(after_three_bytes().claimed_length(2, length).raw(blob("abc")), Code::wire_truncated, 3);
  }
}

TEST(Cursor, TheTenthByteOfAVarintHoldsOneBit) {
  const Blob nine(9, std::byte{0xff});
  const auto ending_with = [&nine](unsigned last) {
    return after_three_bytes().tag(1, wire_type::varint).raw(nine).raw(Blob{std::byte(last)});
  };
  EXPECT_EQ(all_fields_of(ending_with(1).view()).at(1).number_value, largest_value);
  EXPECT_EQ(all_fields_of(ending_with(0).view()).at(1).number_value, largest_value >> 1U);
  expect_refused(ending_with(2), Code::wire_varint, 4);
  expect_refused(ending_with(0x7f), Code::wire_varint, 4);
}

// Protobuf's parsers stop at five bytes. A longer tag that is read here would be refused there.
TEST(Cursor, ATagOfMoreThanFiveBytesIsRefused) {
  EXPECT_EQ(only_field(Message().padded_tag(1, wire_type::varint, 5).raw_varint(1)).number, 1U);
  expect_refused(after_three_bytes().padded_tag(1, wire_type::varint, 6).raw_varint(1), Code::wire_tag, 3);
}

TEST(Cursor, RefusesWhatIsNotAFieldAtItsBeginning) {
  struct Case {
    std::string_view name;
    Message field;
    Code code;
    std::uint64_t offset;
  };
  std::vector<Case> cases = {
      {"a number of 11 bytes", Message().padded_varint(1, 5, 11), Code::wire_varint, 1},
      {"a length of 11 bytes", Message().padded_length_bytes(1, blob("abc"), 11), Code::wire_varint, 1},
      {"a tag of 11 bytes", Message().padded_tag(1, wire_type::varint, 11).raw_varint(1), Code::wire_varint, 0},
      {"a tag of 33 bits", Message().raw_varint(1ULL << 32U).raw_varint(1), Code::wire_tag, 0},
      {"a tag of 64 bits", Message().raw_varint(largest_value).raw_varint(1), Code::wire_tag, 0},
      {"the largest tag, of type 7", Message().raw_varint(0xffffffff).raw_varint(1), Code::wire_type, 0},
      {"a group", Message().group(200, Message().varint(1, 1)), Code::wire_type, 0},
      {"the end of a group", Message().tag(4, wire_type::group_end), Code::wire_type, 0},
      {"wire type 6", Message().tag(4, 6).raw(Blob(16)), Code::wire_type, 0},
      {"wire type 7", Message().tag(4, 7).raw(Blob(16)), Code::wire_type, 0},
  };
  for (std::uint32_t type = 0; type < 8; ++type) {
    cases.push_back({"field number 0", Message().tag(0, type).raw(Blob(16)), Code::wire_tag, 0});
  }
  for (const auto& [name, field, code, offset] : cases) {
    SCOPED_TRACE(name);
    expect_refused(after_three_bytes().raw(field), code, 3 + offset);
  }
}

TEST(ReadVarint, AdvancesAndStopsAtTheEnd) {
  const Message numbers = Message().raw_varint(300).raw_varint(7);
  std::uint64_t position = 0;
  EXPECT_EQ(onnx::read_varint(numbers.view(), position, 3), 300U);
  EXPECT_EQ(position, 2U);
  EXPECT_EQ(onnx::read_varint(numbers.view(), position, 3), 7U);
  EXPECT_EQ(position, 3U);
  expect_error(error_of([&] { onnx::read_varint(numbers.view(), position, 3); }),
               {.code = Code::wire_truncated, .offset = 3U});
  std::uint64_t begin = 0;
  expect_error(error_of([&] { onnx::read_varint(numbers.view(), begin, 1); }),
               {.code = Code::wire_truncated, .offset = 0U});
}

// Encoded fields equal those of an independent builder, and read back.

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
    onnx::append_varint(out, value);
    EXPECT_EQ(out, "x" + Message().raw_varint(value).str()) << value;
    EXPECT_EQ(out.size() - 1, onnx::varint_size(value)) << value;
  }
}

TEST(Encode, TheSizeOfAVarintChangesAtEverySeventhBit) {
  EXPECT_EQ(onnx::varint_size(0), 1U);
  EXPECT_EQ(onnx::varint_size(127), 1U);
  EXPECT_EQ(onnx::varint_size(128), 2U);
  EXPECT_EQ(onnx::varint_size(16383), 2U);
  EXPECT_EQ(onnx::varint_size(16384), 3U);
  EXPECT_EQ(onnx::varint_size(std::numeric_limits<std::uint64_t>::max()), 10U);
}

TEST(Encode, AVarintIsAtLeastAsWideAsAsked) {
  for (const std::uint64_t value : border_values()) {
    for (std::size_t width = 1; width <= 10; ++width) {
      std::string out;
      onnx::append_varint(out, value, width);
      EXPECT_EQ(out, Message().raw_varint(value, width).str()) << value << " in " << width;
    }
  }
}

TEST(Encode, FieldsAreTagAndValue) {
  std::string out;
  onnx::append_tag(out, 2000, onnx::Type::fixed64);
  onnx::append_varint_field(out, 14, 1);
  onnx::append_varint_field(out, 1, std::numeric_limits<std::uint64_t>::max());
  onnx::append_bytes_field(out, 13, std::string(200, 'a'));
  onnx::append_bytes_field(out, 1, "");
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
  onnx::append_tag(out, (1U << 29U) - 1, onnx::Type::fixed32);
  EXPECT_EQ(out, Message().tag((1U << 29U) - 1, wire_type::fixed32).str());
  EXPECT_EQ(out.size(), 5U);
}

}  // namespace

}  // namespace onnxar::testing
