// CRC-32 by carry-less multiplication of 256 bits at a time (VPCLMULQDQ), for CPUs where the libraries do not use it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// The polynomial of zip's CRC-32 without x^32, reflected: x^31 is the lowest bit.
inline constexpr std::uint32_t crc32_polynomial = 0xEDB88320;

/// The state after folding: `crc`, continued over `short_form` and then over `rest`, is the CRC-32 of all bytes.
struct FoldedCrc32 {
  static constexpr std::size_t size = 256;

  std::uint32_t crc = 0;
  std::array<std::byte, size> short_form{};
  Bytes rest;  ///< the end of the bytes, shorter than `size`
};

/// Folds `bytes`, at least FoldedCrc32::size of them, whose CRC-32 continues `crc`. Returns nothing if the CPU lacks
/// the instructions; AMD has them since Zen 3, Intel since Ice Lake. Source: V. Gopal et al., Fast CRC Computation for
/// Generic Polynomials Using PCLMULQDQ Instruction, Intel 2009.
std::optional<FoldedCrc32> fold_crc32(std::uint32_t crc, Bytes bytes) noexcept;

/// Whether folding is faster than the library that this was built with. On CPUs with AVX-512, ISA-L is faster.
bool is_folding_fastest() noexcept;

}  // namespace onnxar::base
