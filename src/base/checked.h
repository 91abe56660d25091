// Checks arithmetic on numbers from files. Every sum and product of such numbers uses these functions, unless it cannot
// wrap because both were compared with the file's size. So does every 64-bit number that becomes a size in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>

namespace onnxar::base {

inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t sum = a + b;
  if (sum < a) return std::nullopt;
  return sum;
}

/// Returns the product, or nothing if it does not fit. Compilers turn this form into a multiplication and a test of the
/// overflow flag, without a division.
inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t product = a * b;
  if (a != 0 && product / a != b) return std::nullopt;
  return product;
}

/// Holds a signed number. Becomes empty when a sum, difference or product does not fit in 64 bits, and then stays
/// empty.
class CheckedInt {
 public:
  constexpr CheckedInt(std::int64_t value) noexcept : value_(value) {}  // NOLINT: mixes with plain numbers

  [[nodiscard]] constexpr std::optional<std::int64_t> value() const noexcept { return value_; }
  [[nodiscard]] constexpr std::int64_t value_or(std::int64_t otherwise) const noexcept {
    return value_.value_or(otherwise);
  }

  friend constexpr CheckedInt operator+(CheckedInt a, CheckedInt b) noexcept {
    if (!a.value_ || !b.value_) return nothing();
    const bool fits = *b.value_ >= 0 ? *a.value_ <= largest - *b.value_ : *a.value_ >= smallest - *b.value_;
    return fits ? CheckedInt(*a.value_ + *b.value_) : nothing();
  }
  friend constexpr CheckedInt operator-(CheckedInt a, CheckedInt b) noexcept {
    if (!a.value_ || !b.value_) return nothing();
    const bool fits = *b.value_ >= 0 ? *a.value_ >= smallest + *b.value_ : *a.value_ <= largest + *b.value_;
    return fits ? CheckedInt(*a.value_ - *b.value_) : nothing();
  }
  friend constexpr CheckedInt operator*(CheckedInt a, CheckedInt b) noexcept {
    if (!a.value_ || !b.value_) return nothing();
    const std::int64_t x = *a.value_, y = *b.value_;
    const auto product = static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
    const bool is_edge = x == -1 && y == smallest;  // its quotient does not fit either
    return x == 0 || (!is_edge && product / x == y) ? CheckedInt(product) : nothing();
  }

 private:
  static constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
  static constexpr CheckedInt nothing() noexcept {
    CheckedInt none = 0;
    none.value_.reset();
    return none;
  }

  std::optional<std::int64_t> value_;
};

/// The maximum number of contiguous bytes in memory: the distance of any two bytes must fit in a std::ptrdiff_t.
inline constexpr auto most_in_memory = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());

/// Throws io.address_space for a size or position beyond `most_in_memory`. `path` names the file that has this size.
[[noreturn]] void refuse_address_space(std::uint64_t number, const std::filesystem::path& path = {});

/// Returns `number` as a size or position in memory, never truncated. Throws io.address_space if it does not fit, which
/// only happens where addresses have fewer than 64 bits. Cannot fail after a comparison with the size of bytes in
/// memory. Costs nothing on 64-bit machines, where all file sizes fit.
constexpr std::size_t in_memory(std::uint64_t number) {
  if constexpr (sizeof(std::size_t) < sizeof number) {
    if (number > most_in_memory) refuse_address_space(number);
  }
  return static_cast<std::size_t>(number);
}

/// Returns the next multiple of `alignment`, a power of two; `value` must be below 2^63.
inline std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace onnxar::base
