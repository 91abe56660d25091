// Folds CRC-32 by carry-less multiplication (PCLMULQDQ, VPCLMULQDQ, PMULL), where libraries do not use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// The state after folding: `crc`, continued over `short_form` and then over `rest`, is the CRC-32 of all bytes.
struct FoldedCrc32 {
  static constexpr std::size_t size = 256;

  std::uint32_t crc = 0;
  std::array<std::byte, size> short_form{};
  Bytes rest;  ///< the end of the bytes, shorter than `size`
};

/// How many bits an instruction folds. PCLMULQDQ folds 128: x86-64 has it since 2010. VPCLMULQDQ folds 256 (AMD since
/// Zen 3, Intel since Ice Lake), and 512 where the CPU has AVX-512. PMULL of 64-bit ARM folds 128.
enum class Fold : std::uint8_t { none, by_128, by_256, by_512 };

/// The widest that this CPU has. It has the narrower ones as well.
Fold widest_fold() noexcept;

/// The one to use: none where the library that this was built with is faster. On CPUs with AVX-512 and VPCLMULQDQ, and
/// on those without VPCLMULQDQ, that is ISA-L.
Fold fastest_fold() noexcept;

/// Folds `bytes`, at least FoldedCrc32::size of them, whose CRC-32 continues `crc`, by a width that this CPU has and
/// that is not `none`. Source: V. Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
/// Instruction, Intel 2009.
FoldedCrc32 fold_crc32(Fold width, std::uint32_t crc, Bytes bytes) noexcept;

}  // namespace onnxar::base
