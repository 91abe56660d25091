// Takes numbers and strings off the front of bytes, for targets whose input is more than one file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar::fuzz {

/// Where the bytes end, what is missing is zeros: every input means something.
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
  /// Up to the next byte `end`, which is taken, too.
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

}  // namespace onnxar::fuzz
