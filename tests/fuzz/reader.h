// Reads numbers and strings from the front of bytes, for targets whose input has several parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar::fuzz {

/// Reads zeros after the last byte, so that every input is valid.
class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }

  std::uint64_t number(std::size_t width) {
    std::uint64_t value = 0;
    const Bytes bytes = take(width);
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return value;
  }
  Bytes take(std::size_t size) {
    const Bytes front = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(front.size());
    return front;
  }
  /// Reads up to the next byte `end`, and consumes it.
  std::string_view text_until(char end) {
    const std::string_view all = as_text(rest_);
    const std::size_t length = std::min(all.find(end), all.size());
    const std::string_view text = as_text(take(length));
    take(1);
    return text;
  }

 private:
  Bytes rest_;
};

/// Two inputs in one: the second follows the first, and the last 2 bytes have its length.
struct Two {
  Bytes first;
  Bytes second;
};

/// Nothing if the input is shorter than the length.
inline std::optional<Two> two_of(Bytes input) {
  constexpr std::size_t trailer = 2;
  if (input.size() < trailer) return std::nullopt;
  const Bytes body = input.first(input.size() - trailer);
  const std::size_t second = std::min<std::size_t>(Reader(input.last(trailer)).number(trailer), body.size());
  return Two{body.first(body.size() - second), body.last(second)};
}

}  // namespace onnxar::fuzz
