// Writes the fields of protobuf messages byte by byte.
#include "support/wire_builder.h"

#include <cstring>
#include <utility>

namespace onnxar::testing {
namespace {

void put_varint(Blob& out, std::uint64_t value, std::size_t width) {
  std::size_t written = 0;
  do {
    const bool more = value >= 0x80 || written + 1 < width;
    out.push_back(static_cast<std::byte>((value & 0x7f) | (more ? 0x80U : 0U)));
    value >>= 7;
    ++written;
  } while (value != 0 || written < width);
}

void put_little_endian(Blob& out, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) out.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
}

std::uint64_t as_u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

Blob blob(std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Blob pattern(std::size_t size, std::uint32_t seed) {
  Blob out(size);
  std::uint32_t state = seed * 2654435761U + 1;
  for (std::byte& byte : out) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return out;
}

std::string text_of(std::span<const std::byte> bytes) {
  std::string out(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Message& Message::varint(std::uint32_t field, std::uint64_t value) {
  return tag(field, wire_type::varint).raw_varint(value);
}

Message& Message::signed_varint(std::uint32_t field, std::int64_t value) { return varint(field, as_u64(value)); }

Message& Message::fixed32(std::uint32_t field, std::uint32_t value) {
  tag(field, wire_type::fixed32);
  put_little_endian(wire_, value, 4);
  return *this;
}

Message& Message::fixed64(std::uint32_t field, std::uint64_t value) {
  tag(field, wire_type::fixed64);
  put_little_endian(wire_, value, 8);
  return *this;
}

Message& Message::bytes(std::uint32_t field, std::span<const std::byte> value) {
  return claimed_length(field, value.size()).raw(value);
}

Message& Message::string(std::uint32_t field, std::string_view value) {
  return bytes(field, std::as_bytes(std::span(value)));
}

Message& Message::message(std::uint32_t field, const Message& value) { return bytes(field, value.wire_); }

Message& Message::packed_varints(std::uint32_t field, const std::vector<std::uint64_t>& values) {
  Blob content;
  for (const std::uint64_t value : values) put_varint(content, value, 0);
  return bytes(field, content);
}

Message& Message::packed_fixed32(std::uint32_t field, const std::vector<std::uint32_t>& values) {
  Blob content;
  for (const std::uint32_t value : values) put_little_endian(content, value, 4);
  return bytes(field, content);
}

Message& Message::packed_fixed64(std::uint32_t field, const std::vector<std::uint64_t>& values) {
  Blob content;
  for (const std::uint64_t value : values) put_little_endian(content, value, 8);
  return bytes(field, content);
}

Message& Message::group(std::uint32_t field, const Message& value) {
  return tag(field, wire_type::group_start).raw(value).tag(field, wire_type::group_end);
}

Message& Message::padded_varint(std::uint32_t field, std::uint64_t value, std::size_t width) {
  return tag(field, wire_type::varint).raw_varint(value, width);
}

Message& Message::padded_length_bytes(std::uint32_t field, std::span<const std::byte> value, std::size_t width) {
  return tag(field, wire_type::length).raw_varint(value.size(), width).raw(value);
}

Message& Message::padded_length_message(std::uint32_t field, const Message& value, std::size_t width) {
  return padded_length_bytes(field, value.wire_, width);
}

Message& Message::padded_tag(std::uint32_t field, std::uint32_t type, std::size_t width) {
  return raw_varint((std::uint64_t{field} << 3) | type, width);
}

Message& Message::tag(std::uint32_t field, std::uint32_t type) { return padded_tag(field, type, 0); }

Message& Message::claimed_length(std::uint32_t field, std::uint64_t length) {
  return tag(field, wire_type::length).raw_varint(length);
}

Message& Message::raw_varint(std::uint64_t value, std::size_t width) {
  put_varint(wire_, value, width);
  return *this;
}

Message& Message::raw(std::span<const std::byte> value) {
  // Through a copy: `value` may be a view of this very message.
  const Blob copy(value.begin(), value.end());
  wire_.insert(wire_.end(), copy.begin(), copy.end());
  return *this;
}

Message& Message::raw(const Message& value) { return raw(value.wire_); }

Blob Message::take() { return std::exchange(wire_, {}); }

}  // namespace onnxar::testing
