// Arithmetic on numbers that came from a file. Every sum, product and range test on such numbers goes through here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "onnxar/bytes.h"

namespace onnxar::base {

inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// A signed number that becomes empty when a sum, difference or product does not fit in 64 bits, and then stays empty.
class CheckedInt {
 public:
  constexpr CheckedInt(std::int64_t value) noexcept : value_(value) {}  // NOLINT: mixes with plain numbers

  [[nodiscard]] constexpr std::optional<std::int64_t> value() const noexcept { return value_; }
  [[nodiscard]] constexpr std::int64_t value_or(std::int64_t otherwise) const noexcept {
    return value_.value_or(otherwise);
  }

  friend constexpr CheckedInt operator+(CheckedInt a, CheckedInt b) noexcept {
    std::int64_t sum = 0;
    if (!a.value_ || !b.value_ || __builtin_add_overflow(*a.value_, *b.value_, &sum)) return nothing();
    return sum;
  }
  friend constexpr CheckedInt operator-(CheckedInt a, CheckedInt b) noexcept {
    std::int64_t difference = 0;
    if (!a.value_ || !b.value_ || __builtin_sub_overflow(*a.value_, *b.value_, &difference)) return nothing();
    return difference;
  }
  friend constexpr CheckedInt operator*(CheckedInt a, CheckedInt b) noexcept {
    std::int64_t product = 0;
    if (!a.value_ || !b.value_ || __builtin_mul_overflow(*a.value_, *b.value_, &product)) return nothing();
    return product;
  }

 private:
  static constexpr CheckedInt nothing() noexcept {
    CheckedInt none = 0;
    none.value_.reset();
    return none;
  }

  std::optional<std::int64_t> value_;
};

/// Whether [offset, offset + length) lies in [0, size). Cannot wrap.
inline bool in_range(std::uint64_t offset, std::uint64_t length, std::uint64_t size) noexcept {
  return offset <= size && length <= size - offset;
}

/// The slice, or nothing if it would leave `bytes`.
inline std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset, std::uint64_t length) noexcept {
  if (!in_range(offset, length, bytes.size())) return std::nullopt;
  return bytes.subspan(offset, length);
}

/// Whether `part` is a view into the memory of `whole`.
inline bool lies_in(Bytes part, Bytes whole) noexcept {
  const std::less<> before;
  return !before(part.data(), whole.data()) && before(part.data(), whole.data() + whole.size());
}

/// The next multiple of `alignment`, a power of two; `value` must be below 2^63.
inline std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace onnxar::base
