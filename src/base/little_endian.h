// Reads and writes little-endian numbers at byte positions. memcpy makes alignment unnecessary.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// Returns the number whose bytes in memory are those of `value` from the lowest to the highest. Its own inverse.
template <std::unsigned_integral T>
constexpr T little_endian(T value) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    return value;
  } else {
    T reversed = 0;  // compilers make one instruction of the loop
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      reversed |= static_cast<T>(static_cast<T>((value >> 8 * i) & 0xffU) << 8 * (sizeof(T) - 1 - i));
    }
    return reversed;
  }
}

/// REQUIRES: offset + sizeof(T) <= bytes.size()
template <std::unsigned_integral T>
T load(Bytes bytes, std::uint64_t offset) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(offset), sizeof value);
  return little_endian(value);
}

/// REQUIRES: offset + sizeof(T) <= bytes.size()
template <std::unsigned_integral T>
void store(std::span<std::byte> bytes, std::size_t offset, T value) noexcept {
  value = little_endian(value);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// Appends the lowest `width` bytes of `value`, the lowest first. REQUIRES: width <= sizeof(T)
template <std::unsigned_integral T>
void append(std::vector<std::byte>& out, T value, std::size_t width = sizeof(T)) {
  value = little_endian(value);
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), first, first + width);
}

inline void append(std::vector<std::byte>& out, Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

}  // namespace onnxar::base
