// Computes SHA-1 (FIPS 180-4) of bytes that come in pieces.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/block_hash.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Computes SHA-1 for the checksums of ONNX's external data, which detect accidental damage, not attacks. Not
/// synchronised. Cost: 0.5 to 1 GB/s.
class Sha1 {
 public:
  Sha1() noexcept;

  void update(Bytes bytes) noexcept;
  /// Returns the digest as 40 lower-case hexadecimal digits. The object cannot be used afterwards.
  [[nodiscard]] std::string hex() && { return std::move(hash_).hex(5); }

  /// Returns the number of bytes that this process has passed to `update` so far. Tests use it to prove that bytes
  /// shared by many tensors are summed once. Threads: any.
  static std::uint64_t bytes_summed() noexcept;

 private:
  BlockHash hash_;
};

}  // namespace onnxar::base
