// Folds CRC-32 with carry-less multiplication (PCLMULQDQ, VPCLMULQDQ, PMULL), where libraries do not use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// Holds the state after folding: `crc`, continued over `short_form` and then over `rest`, is the CRC-32 of all bytes.
struct FoldedCrc32 {
  static constexpr std::size_t size = 256;

  std::uint32_t crc = 0;
  std::array<std::byte, size> short_form{};
  Bytes rest;  ///< the end of the bytes, shorter than `size`
};

/// The number of bits that one instruction folds. PCLMULQDQ (x86-64 since 2010) folds 128. VPCLMULQDQ folds 256 (AMD
/// since Zen 3, Intel since Ice Lake), and 512 if the CPU has AVX-512. PMULL of 64-bit ARM folds 128.
enum class Fold : std::uint8_t { none, by_128, by_256, by_512 };

/// Returns the widest fold that this CPU has. It also has the narrower ones.
Fold widest_fold() noexcept;

/// Returns the fold to use: `none` if the library that this was built with is faster. ISA-L is faster on CPUs with
/// AVX-512 and VPCLMULQDQ, and on CPUs without VPCLMULQDQ.
Fold fastest_fold() noexcept;

/// Folds `bytes`, at least FoldedCrc32::size of them, whose CRC-32 continues `crc`, by a width that this CPU has and
/// that is not `none`. Source: V. Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
/// Instruction, Intel 2009.
FoldedCrc32 fold_crc32(Fold width, std::uint32_t crc, Bytes bytes) noexcept;

}  // namespace onnxar::base
