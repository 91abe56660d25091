// Computes SHA-256 (FIPS 180-4) of bytes that come in pieces.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/block_hash.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// The hexadecimal digits of a digest.
inline constexpr std::size_t sha256_digits = 64;

/// True if this CPU has instructions for SHA-256: x86-64 since Goldmont, Ice Lake and Zen; most 64-bit ARM.
bool has_sha256_instructions() noexcept;

/// Computes SHA-256 for digests of archives (spec/digest.md). Not synchronised. Cost: 1 to 2 GB/s with the CPU's
/// instructions, otherwise 0.2 to 0.5 GB/s. One digest cannot use several threads: each block depends on the one before
/// it.
class Sha256 {
 public:
  /// Begins a digest. REQUIRES: `by_instructions` is false if the CPU lacks the instructions.
  explicit Sha256(bool by_instructions = has_sha256_instructions()) noexcept;

  void update(Bytes bytes) noexcept { hash_.update(bytes); }
  /// Returns the digest in lower-case hexadecimal digits. The object cannot be used afterwards.
  [[nodiscard]] std::string hex() && { return std::move(hash_).hex(8); }

 private:
  BlockHash hash_;
};

}  // namespace onnxar::base
