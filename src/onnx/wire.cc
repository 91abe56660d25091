// Reads and writes the tags and values of protobuf's wire format.
#include "onnx/wire.h"

#include "base/checked.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar::onnx {
namespace {

using base::concat;

[[noreturn]] void refuse(Code code, const std::string& message, std::uint64_t offset) {
  throw Error(code, message, {"", offset}, {}, {Hint::get_model_again});
}

[[noreturn]] void refuse_truncated(std::uint64_t offset) {
  refuse(Code::wire_truncated,  // M2
         "the protobuf message ends in the middle of a field: it is cut short, damaged or not an ONNX model", offset);
}

std::uint64_t read_long_varint(Bytes buffer, std::uint64_t& position, std::uint64_t end) {
  constexpr unsigned longest = 10;  // bytes of a 64-bit varint
  const std::uint64_t begin = position;
  std::uint64_t value = 0;
  for (unsigned i = 0;; ++i) {  // the tenth byte ends the loop
    if (position >= end) refuse_truncated(begin);
    const auto byte = std::to_integer<std::uint64_t>(buffer[base::in_memory(position++)]);
    // Nine bytes hold 63 bits, so the tenth byte may hold only one bit.
    if (i + 1 == longest && byte > 1) break;
    value |= (byte & 0x7fU) << (7 * i);
    if (byte < 0x80) return value;
  }
  refuse(Code::wire_varint, "a protobuf number has more than 64 bits", begin);  // M3
}

/// Most varints have one byte: these are read without a call.
inline std::uint64_t read_short_varint(Bytes buffer, std::uint64_t& position, std::uint64_t end) {
  if (position < end && buffer[base::in_memory(position)] < std::byte{0x80}) {
    return std::to_integer<std::uint64_t>(buffer[base::in_memory(position++)]);
  }
  return read_long_varint(buffer, position, end);
}

void read_tag(Bytes buffer, std::uint64_t& position, std::uint64_t end, Field& field) {
  const std::uint64_t begin = position;
  const std::uint64_t tag = read_short_varint(buffer, position, end);
  constexpr std::uint64_t longest = 5;  // bytes of a 32-bit varint; protobuf's parsers refuse a tag with more padding
  if (tag > 0xffffffff || tag < 8 || position - begin > longest) {  // M4
    refuse(Code::wire_tag,
           concat("the tag ", tag, " is not valid in protobuf: the message is damaged or not an ONNX model"), begin);
  }
  field.number = static_cast<std::uint32_t>(tag >> 3U);
  const auto type = static_cast<std::uint8_t>(tag & 7U);
  if (type == 3 || type == 4) {  // M5
    refuse(Code::wire_type, concat("field ", field.number, " is a protobuf group; ONNX has none"), begin);
  }
  if (type > 5) {  // M5
    refuse(Code::wire_type,
           concat("field ", field.number, " has wire type ", unsigned{type},
                  ": the message is damaged or not an ONNX model"),
           begin);
  }
  field.type = static_cast<Type>(type);
}

}  // namespace

std::uint64_t read_varint(Bytes buffer, std::uint64_t& position, std::uint64_t end) {
  return read_short_varint(buffer, position, end);
}

bool Cursor::next(Field& field) {
  if (position_ >= end_) return false;
  field.whole.begin = position_;
  read_tag(buffer_, position_, end_, field);
  field.length = {position_, position_};
  std::uint64_t size = 0;
  switch (field.type) {
    case Type::varint: {
      field.value.begin = position_;
      field.number_value = read_short_varint(buffer_, position_, end_);
      field.value.end = field.whole.end = position_;
      return true;
    }
    case Type::fixed64: size = 8; break;
    case Type::fixed32: size = 4; break;
    case Type::length_delimited:
      size = read_short_varint(buffer_, position_, end_);
      field.length.end = position_;
      break;
  }
  // The size may be any 64-bit number. Adding it to the position could wrap, so it is compared with the rest.
  if (size > end_ - position_) refuse_truncated(field.whole.begin);
  if (field.type == Type::fixed64) field.number_value = base::load<std::uint64_t>(buffer_, position_);
  if (field.type == Type::fixed32) field.number_value = base::load<std::uint32_t>(buffer_, position_);
  field.value = {position_, position_ + size};
  position_ += size;
  field.whole.end = position_;
  return true;
}

std::string_view string_in(Bytes model, Range message, std::uint32_t number) noexcept try {
  std::string_view text;
  Cursor cursor(model, message);
  for (Field field; cursor.next(field);) {
    if (field.number == number && field.type == Type::length_delimited) text = as_text(field.value.of(model));
  }
  return text;
} catch (const Error&) {
  return {};
}

void check_depth(std::size_t depth, const Field& field) {
  if (depth < most_nested_messages) return;  // M6
  throw Error(Code::wire_depth, base::concat("messages are nested more than ", most_nested_messages, " deep"),
              {"", field.whole.begin});
}

std::size_t varint_size(std::uint64_t value) noexcept {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7U) ++size;
  return size;
}

void append_varint(std::string& out, std::uint64_t value) { append_varint(out, value, 1); }

void append_varint(std::string& out, std::uint64_t value, std::size_t width) {
  for (; value >= 0x80 || width > 1; value >>= 7U) {
    out += static_cast<char>((value & 0x7fU) | 0x80U);
    if (width > 1) --width;
  }
  out += static_cast<char>(value);
}

void append_tag(std::string& out, std::uint32_t number, Type type) {
  append_varint(out, (std::uint64_t{number} << 3U) | static_cast<std::uint64_t>(type));
}

void append_varint_field(std::string& out, std::uint32_t number, std::uint64_t value) {
  append_tag(out, number, Type::varint);
  append_varint(out, value);
}

void append_bytes_field(std::string& out, std::uint32_t number, std::string_view value) {
  append_tag(out, number, Type::length_delimited);
  append_varint(out, value.size());
  out += value;
}

}  // namespace onnxar::onnx
