// Changes bytes of a zip archive, and reads numbers in it: refuses places outside of the bytes.
#include <algorithm>
#include <optional>
#include <span>

#include "support/zip_builder.h"
#include "support/zip_bytes.h"

namespace onnxar::testing {
namespace {

void put_at(Blob& bytes, std::size_t offset, std::uint64_t value, std::size_t width) {
  demand(offset <= bytes.size() && width <= bytes.size() - offset);
  for (std::size_t i = 0; i < width; ++i) bytes[offset + i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint64_t value_at(std::span<const std::byte> bytes, std::size_t offset, std::size_t width) {
  demand(offset <= bytes.size() && width <= bytes.size() - offset);
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) value = (value << 8) | std::to_integer<std::uint64_t>(bytes[offset + i]);
  return value;
}

}  // namespace

Blob with_the_same_crc(Blob bytes, std::size_t place) {
  constexpr std::uint64_t generator = 0x104c11db7;
  for (unsigned i = 0; i < 33; ++i) {
    if ((generator >> (32 - i) & 1U) != 0) bytes[place + i / 8] ^= static_cast<std::byte>(1U << i % 8);
  }
  return bytes;
}

void flip_bit(Blob& bytes, std::size_t offset, unsigned bit) {
  demand(offset < bytes.size() && bit < 8);
  bytes[offset] ^= static_cast<std::byte>(1U << bit);
}

void put_u16(Blob& bytes, std::size_t offset, std::uint16_t value) { put_at(bytes, offset, value, 2); }
void put_u32(Blob& bytes, std::size_t offset, std::uint32_t value) { put_at(bytes, offset, value, 4); }
void put_u64(Blob& bytes, std::size_t offset, std::uint64_t value) { put_at(bytes, offset, value, 8); }

void put_bytes(Blob& bytes, std::size_t offset, std::span<const std::byte> value) {
  demand(offset <= bytes.size() && value.size() <= bytes.size() - offset);
  std::copy(value.begin(), value.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

void truncate(Blob& bytes, std::size_t size) {
  demand(size < bytes.size());
  bytes.resize(size);
}

void insert(Blob& bytes, std::size_t offset, std::span<const std::byte> value) {
  demand(offset <= bytes.size());
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(offset), value.begin(), value.end());
}

void erase(Blob& bytes, std::size_t offset, std::size_t count) {
  demand(offset <= bytes.size() && count <= bytes.size() - offset);
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  bytes.erase(first, first + static_cast<std::ptrdiff_t>(count));
}

std::uint16_t u16_at(std::span<const std::byte> bytes, std::size_t offset) { return low16(value_at(bytes, offset, 2)); }
std::uint32_t u32_at(std::span<const std::byte> bytes, std::size_t offset) { return low32(value_at(bytes, offset, 4)); }
std::uint64_t u64_at(std::span<const std::byte> bytes, std::size_t offset) { return value_at(bytes, offset, 8); }

std::optional<std::size_t> find_signature(std::span<const std::byte> bytes, std::uint32_t value, std::size_t from) {
  demand(from <= bytes.size());
  Blob wanted;
  put32(wanted, value);
  const auto found =
      std::search(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end(), wanted.begin(), wanted.end());
  if (found == bytes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - bytes.begin());
}

}  // namespace onnxar::testing
