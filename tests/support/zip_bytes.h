// Little-endian numbers at the end of bytes, and what else the sources of zip_builder.h share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "support/wire_builder.h"

namespace onnxar::testing {

// The flag of a header whose name is UTF-8.
inline constexpr std::uint16_t utf8_flag = 0x0800;

inline void put(Blob& out, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) out.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xFF));
}
inline void put16(Blob& out, std::uint16_t value) { put(out, value, 2); }
inline void put32(Blob& out, std::uint32_t value) { put(out, value, 4); }
inline void put64(Blob& out, std::uint64_t value) { put(out, value, 8); }
inline void put_all(Blob& out, std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }
inline void put_all(Blob& out, std::string_view text) { put_all(out, std::as_bytes(std::span(text))); }

inline std::uint16_t low16(std::uint64_t value) { return static_cast<std::uint16_t>(value & 0xFFFF); }
inline std::uint32_t low32(std::uint64_t value) { return static_cast<std::uint32_t>(value & 0xFFFFFFFF); }

inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

inline void demand(bool inside) {
  if (!inside) throw std::out_of_range("outside the bytes");
}

}  // namespace onnxar::testing
