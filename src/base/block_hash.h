// Splits messages into blocks of 64 bytes for hashes such as SHA-1 and SHA-256 (FIPS 180-4), and prints their digests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// Splits bytes that come in pieces into blocks. Not synchronised.
class BlockHash {
 public:
  static constexpr std::size_t block_size = 64;
  using State = std::array<std::uint32_t, 8>;
  /// Adds `count` blocks, which begin at `blocks`, to the state.
  using AddBlocks = void (*)(State& state, const std::byte* blocks, std::size_t count) noexcept;

  BlockHash(const State& initial, AddBlocks add_blocks) noexcept : state_(initial), add_blocks_(add_blocks) {}

  void update(Bytes bytes) noexcept;
  /// Returns the first `words` words of the digest as lower-case hexadecimal digits. The object cannot be used
  /// afterwards.
  [[nodiscard]] std::string hex(std::size_t words) &&;

 private:
  void finish() noexcept;

  State state_;
  AddBlocks add_blocks_;
  std::array<std::byte, block_size> rest_{};  // the first `size_ % block_size` bytes of a block
  std::uint64_t size_ = 0;                    // total bytes so far
};

/// Returns the big-endian number at `bytes`. Compilers turn this into one load and a byte swap.
inline std::uint32_t load_big_endian(const std::byte* bytes) noexcept {
  return std::to_integer<std::uint32_t>(bytes[0]) << 24U | std::to_integer<std::uint32_t>(bytes[1]) << 16U |
         std::to_integer<std::uint32_t>(bytes[2]) << 8U | std::to_integer<std::uint32_t>(bytes[3]);
}

}  // namespace onnxar::base
