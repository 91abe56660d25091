#include "wire/encode.h"

namespace onnxar::wire {

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

}  // namespace onnxar::wire
