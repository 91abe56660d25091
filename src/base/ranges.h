// Checks ranges of bytes that a file or a caller states by offset and length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onnxar::base {

// A range of a file.

struct ByteRange {
  std::uint64_t offset = 0;  ///< bytes
  std::uint64_t length = 0;

  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return offset + length; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// The length of the range that begins at `offset` of `size` bytes: `length`, or without it all bytes from `offset` on.
/// Empty if the range leaves the bytes. Cannot wrap, because it only subtracts a smaller number from a larger one.
inline std::optional<std::uint64_t> length_within(std::uint64_t offset, std::optional<std::uint64_t> length,
                                                  std::uint64_t size) noexcept {
  if (offset > size) return std::nullopt;
  const std::uint64_t rest = size - offset;
  const std::uint64_t stated = length.value_or(rest);
  return stated <= rest ? std::optional(stated) : std::nullopt;
}

/// The message for a range that `length_within` refuses: `offset 8 and length 16 leave the entry "w" of 12 bytes`,
/// where `whole` is `the entry "w"`.
std::string range_fault(std::uint64_t offset, std::optional<std::uint64_t> length, std::string_view whole,
                        std::uint64_t size);

}  // namespace onnxar::base
