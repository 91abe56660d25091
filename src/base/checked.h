// Checks arithmetic on numbers from files. Every sum, product and range test on such numbers uses these functions, and
// so does every 64-bit number that becomes a size in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "onnxar/bytes.h"

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

/// Returns the next multiple of `alignment`, a power of two; `value` must be below 2^63.
inline std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// Prefetches the cache line of `address`, which need not be mapped.
inline void prefetch_line([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#endif
}

// Checks ranges of bytes that a file or a caller states by offset and length.

struct ByteRange {
  std::uint64_t offset = 0;  ///< bytes
  std::uint64_t length = 0;

  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return offset + length; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

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

/// Limits the bytes made from an input to a multiple of the input's size. Input is not trusted, and few bytes can ask
/// for many: deflate expands a thousandfold, and tensors may overlap. The multiple bounds the cost of every file by its
/// size. Ordinary files stay far below it.
class ByteBudget {
 public:
  /// Allows `input` bytes to become `times` as many.
  constexpr ByteBudget(std::uint64_t input, std::uint64_t times) noexcept : input_(input), times_(times) {}

  /// Counts `bytes` more. Returns false, and counts nothing, if they are too many.
  [[nodiscard]] bool add(std::uint64_t bytes) noexcept {
    const auto sum = checked_add(made_, bytes);
    if (!sum || !allows(*sum)) return false;
    made_ = *sum;
    return true;
  }
  /// True if a total of `bytes` is within the budget, regardless of the bytes counted so far.
  [[nodiscard]] bool allows(std::uint64_t bytes) const noexcept { return bytes <= most(); }
  /// Returns the maximum total number of bytes. A product beyond 64 bits sets no limit.
  [[nodiscard]] std::uint64_t most() const noexcept {
    return checked_multiply(input_, times_).value_or(std::numeric_limits<std::uint64_t>::max());
  }

  [[nodiscard]] std::uint64_t input() const noexcept { return input_; }
  [[nodiscard]] std::uint64_t times() const noexcept { return times_; }
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }

 private:
  std::uint64_t input_;
  std::uint64_t times_;
  std::uint64_t made_ = 0;
};

}  // namespace onnxar::base
