// Writes protobuf's wire format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/cursor.h"

namespace onnxar::wire {

/// The number of bytes in the shortest varint of `value`.
std::size_t varint_size(std::uint64_t value) noexcept;

void append_varint(std::string& out, std::uint64_t value);
/// Appends a varint of at least `width` bytes. Some writers reserve room for a length before they know it, and pad it.
void append_varint(std::string& out, std::uint64_t value, std::size_t width);
void append_tag(std::string& out, std::uint32_t number, Type type);
void append_varint_field(std::string& out, std::uint32_t number, std::uint64_t value);
void append_bytes_field(std::string& out, std::uint32_t number, std::string_view value);

}  // namespace onnxar::wire
