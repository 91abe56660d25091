// SHA-1 and SHA-256 (FIPS 180-4). They share blocks of 64 bytes, the padding, and the digest as text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// Cuts bytes that come in pieces into blocks. Not synchronised.
class BlockHash {
 public:
  static constexpr std::size_t block_size = 64;
  using State = std::array<std::uint32_t, 8>;
  /// Adds `count` blocks, which begin at `blocks`, to the state.
  using AddBlocks = void (*)(State& state, const std::byte* blocks, std::size_t count) noexcept;

  BlockHash(const State& initial, AddBlocks add_blocks) noexcept : state_(initial), add_blocks_(add_blocks) {}

  void update(Bytes bytes) noexcept;
  /// The first `words` words of the digest as lower-case hexadecimal digits. The object cannot be used afterwards.
  [[nodiscard]] std::string hex(std::size_t words) &&;

 private:
  void finish() noexcept;

  State state_;
  AddBlocks add_blocks_;
  std::array<std::byte, block_size> rest_{};  // the first `size_ % block_size` bytes of a block
  std::uint64_t size_ = 0;                    // bytes so far
};

/// The big-endian number at `bytes`. Compilers turn this into one load and a byte swap.
inline std::uint32_t load_big_endian(const std::byte* bytes) noexcept {
  return std::to_integer<std::uint32_t>(bytes[0]) << 24U | std::to_integer<std::uint32_t>(bytes[1]) << 16U |
         std::to_integer<std::uint32_t>(bytes[2]) << 8U | std::to_integer<std::uint32_t>(bytes[3]);
}

/// SHA-1 of bytes that come in pieces, for the checksums of ONNX's external data: they detect accidental damage, not
/// attacks. Not synchronised. Cost: 0.5 to 1 GB/s.
class Sha1 {
 public:
  Sha1() noexcept;

  void update(Bytes bytes) noexcept;
  /// The digest as 40 lower-case hexadecimal digits. The object cannot be used afterwards.
  [[nodiscard]] std::string hex() && { return std::move(hash_).hex(5); }

  /// The number of bytes that this process has passed to `update` so far. Tests use it to prove that bytes shared by
  /// many tensors are summed once. Threads: any.
  static std::uint64_t bytes_summed() noexcept;

 private:
  BlockHash hash_;
};

/// Whether this CPU has instructions for SHA-256: x86-64 since Goldmont, Ice Lake and Zen; most 64-bit ARM.
bool has_sha256_instructions() noexcept;

/// SHA-256 of bytes that come in pieces, for digests of archives (spec/digest.md). Not synchronised. Cost: 1 to 2 GB/s
/// with the CPU's instructions, otherwise 0.2 to 0.5 GB/s. One digest cannot use several threads: each block depends on
/// the one before it.
class Sha256 {
 public:
  /// REQUIRES: `by_instructions` only if the CPU has them.
  explicit Sha256(bool by_instructions = has_sha256_instructions()) noexcept;

  void update(Bytes bytes) noexcept { hash_.update(bytes); }
  /// The digest as 64 lower-case hexadecimal digits. The object cannot be used afterwards.
  [[nodiscard]] std::string hex() && { return std::move(hash_).hex(8); }

 private:
  BlockHash hash_;
};

}  // namespace onnxar::base
