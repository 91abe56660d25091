// SHA-1 (FIPS 180-4), for the checksums of ONNX's external data. They detect accidental damage, not attacks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// Computes the digest of bytes that come in pieces. Not synchronised. Cost: 0.5 to 1 GB/s.
class Sha1 {
 public:
  void update(Bytes bytes);
  /// The digest as 40 lower-case hexadecimal digits. The object cannot be used afterwards.
  [[nodiscard]] std::string hex() &&;

  /// The number of bytes that this process has passed to `update` so far. Tests use it to prove that bytes shared by
  /// many tensors are summed once. Threads: any.
  static std::uint64_t bytes_summed() noexcept;

 private:
  using State = std::array<std::uint32_t, 5>;
  static constexpr std::size_t block_size = 64;

  static void add_block(State& state, const std::byte* block) noexcept;
  void finish() noexcept;

  State state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::array<std::byte, block_size> rest_{};  // the first `size_ % block_size` bytes of a block
  std::uint64_t size_ = 0;                    // bytes so far
};

}  // namespace onnxar::base
