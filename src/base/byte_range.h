// A range of a file.
#pragma once

#include <cstdint>

namespace onnxar::base {

struct ByteRange {
  std::uint64_t offset = 0;  ///< bytes
  std::uint64_t length = 0;

  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return offset + length; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

}  // namespace onnxar::base
