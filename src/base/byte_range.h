// Checks ranges of bytes that a file or a caller states by offset and length.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Describes the bytes from an offset on.
struct ByteRange {
  std::uint64_t offset = 0;  ///< bytes
  std::uint64_t length = 0;

  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return offset + length; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// True if [offset, offset + length) lies in [0, size). Cannot wrap.
inline bool in_range(std::uint64_t offset, std::uint64_t length, std::uint64_t size) noexcept {
  return offset <= size && length <= size - offset;
}

/// Returns a slice of `bytes`. REQUIRES: in_range(offset, length, bytes.size())
inline Bytes section(Bytes bytes, std::uint64_t offset, std::uint64_t length) noexcept {
  return bytes.subspan(in_memory(offset), in_memory(length));
}
/// Returns the bytes from `offset` to the end. REQUIRES: offset <= bytes.size()
inline Bytes section(Bytes bytes, std::uint64_t offset) noexcept { return bytes.subspan(in_memory(offset)); }

/// Returns a slice of `bytes`, or nothing if it would leave them.
inline std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset, std::uint64_t length) noexcept {
  if (!in_range(offset, length, bytes.size())) return std::nullopt;
  return section(bytes, offset, length);
}

/// True if `part` is a view into the memory of `whole`.
inline bool lies_in(Bytes part, Bytes whole) noexcept {
  const std::less<> before;
  return !before(part.data(), whole.data()) && before(part.data(), whole.data() + whole.size());
}

/// Returns the length of the range that begins at `offset` of `size` bytes: `length`, or without it the number of bytes
/// from `offset` on. Returns nothing if the range leaves the bytes. Cannot wrap, because it only subtracts a smaller
/// number from a larger one.
inline std::optional<std::uint64_t> length_within(std::uint64_t offset, std::optional<std::uint64_t> length,
                                                  std::uint64_t size) noexcept {
  if (offset > size) return std::nullopt;
  const std::uint64_t rest = size - offset;
  const std::uint64_t stated = length.value_or(rest);
  return stated <= rest ? std::optional(stated) : std::nullopt;
}

/// Returns the message for a range that `length_within` refuses: `offset 8 and length 16 leave the entry "w" of 12
/// bytes`, where `whole` is `the entry "w"`.
std::string range_fault(std::uint64_t offset, std::optional<std::uint64_t> length, std::string_view whole,
                        std::uint64_t size);

}  // namespace onnxar::base
