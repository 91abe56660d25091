// Reads and writes little-endian numbers at byte positions. memcpy makes alignment unnecessary.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar::base {

static_assert(std::endian::native == std::endian::little, "big-endian hosts are not supported yet");

/// REQUIRES: offset + sizeof(T) <= bytes.size()
template <std::unsigned_integral T>
T load(Bytes bytes, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <std::unsigned_integral T>
void append(std::vector<std::byte>& out, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), first, first + sizeof value);
}

inline void append(std::vector<std::byte>& out, Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

}  // namespace onnxar::base
