// Divides a message into blocks for SHA-1 and SHA-256, pads it, and prints the digest.
#include "base/block_hash.h"

#include <algorithm>
#include <span>

#include "base/text.h"

namespace onnxar::base {

void BlockHash::update(Bytes bytes) noexcept {
  const std::size_t held = size_ % block_size;
  size_ += bytes.size();
  if (held != 0) {
    const std::size_t added = std::min(block_size - held, bytes.size());
    std::ranges::copy(bytes.first(added), rest_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes = bytes.subspan(added);
    if (held + added < block_size) return;
    add_blocks_(state_, rest_.data(), 1);
  }
  if (bytes.size() >= block_size) add_blocks_(state_, bytes.data(), bytes.size() / block_size);
  std::ranges::copy(bytes.last(bytes.size() % block_size), rest_.begin());
}

/// Appends the padding of the standard: a one bit, zeros, and the length in bits.
void BlockHash::finish() noexcept {
  const std::uint64_t bits = size_ * 8;
  std::size_t held = size_ % block_size;
  rest_[held++] = std::byte{0x80};
  std::fill(rest_.begin() + static_cast<std::ptrdiff_t>(held), rest_.end(), std::byte{0});
  if (held > block_size - sizeof bits) {  // the length does not fit and goes into another block
    add_blocks_(state_, rest_.data(), 1);
    rest_.fill(std::byte{0});
  }
  for (std::size_t i = 0; i < sizeof bits; ++i) rest_[block_size - 1 - i] = static_cast<std::byte>(bits >> (8 * i));
  add_blocks_(state_, rest_.data(), 1);
}

std::string BlockHash::hex(std::size_t words) && {
  finish();
  std::string text;
  for (const std::uint32_t word : std::span(state_).first(words)) {
    for (unsigned shift = 32; shift != 0;) text += hexadecimal_digits[word >> (shift -= 4) & 0xFU];
  }
  return text;
}

}  // namespace onnxar::base
