#include "base/crc32_fold.h"

#include "base/checked.h"
#include "base/processor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace onnxar::base {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

/// x^power modulo the polynomial, in the bit order of CRC-32 (x^0 is the highest bit), as the multiplier of 64 bits
/// that carry-less multiplication of reflected numbers needs: shifted by one, since a product of two 64-bit numbers has
/// 127 bits.
constexpr std::int64_t multiplier(unsigned power) {
  std::uint32_t remainder = 0x80000000;
  for (unsigned i = 0; i < power; ++i) remainder = (remainder >> 1U) ^ ((remainder & 1U) != 0 ? crc32_polynomial : 0);
  return static_cast<std::int64_t>(std::uint64_t{remainder} << 1U);
}
static_assert(multiplier(4 * 128 + 32) == 0x154442bd4 && multiplier(4 * 128 - 32) == 0x1c6e41596,
              "as published for folding by 512 bits");

/// This many independent chains hide the latency of a multiplication.
constexpr std::size_t chains = FoldedCrc32::size / sizeof(__m256i);

bool can_fold() noexcept {
  static const bool answer = has_carryless_multiplication();
  return answer;
}

// Multiplying 128 bits by x^(bits of a block) and adding them to the bits one block later does not change the
// remainder. One block is left at the end. It has the same CRC as all blocks that were folded into it.
__attribute__((target("avx2,pclmul,vpclmulqdq"))) FoldedCrc32 fold(std::uint32_t crc, Bytes bytes) noexcept {
  constexpr unsigned block_bits = 8 * FoldedCrc32::size;
  const __m256i by =
      _mm256_broadcastsi128_si256(_mm_set_epi64x(multiplier(block_bits - 32), multiplier(block_bits + 32)));
  const auto* from = reinterpret_cast<const __m256i*>(bytes.data());
  __m256i sums[chains];
  for (std::size_t i = 0; i < chains; ++i) sums[i] = _mm256_loadu_si256(from + i);
  sums[0] = _mm256_xor_si256(sums[0], _mm256_zextsi128_si256(_mm_cvtsi32_si128(static_cast<int>(~crc))));
  for (std::size_t blocks = bytes.size() / FoldedCrc32::size - 1; blocks != 0; --blocks) {
    from += chains;
    for (std::size_t i = 0; i < chains; ++i) {
      const __m256i low = _mm256_clmulepi64_epi128(sums[i], by, 0x00);
      const __m256i high = _mm256_clmulepi64_epi128(sums[i], by, 0x11);
      sums[i] = _mm256_xor_si256(_mm256_xor_si256(low, high), _mm256_loadu_si256(from + i));
    }
  }
  FoldedCrc32 folded;
  folded.crc = ~std::uint32_t{0};  // cancels the initial inversion: the sums contain the CRC to be continued
  for (std::size_t i = 0; i < chains; ++i) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(folded.short_form.data()) + i, sums[i]);
  }
  folded.rest = bytes.last(bytes.size() % FoldedCrc32::size);
  return folded;
}

}  // namespace

std::optional<FoldedCrc32> fold_crc32(std::uint32_t crc, Bytes bytes) noexcept {
  return can_fold() ? std::optional(fold(crc, bytes)) : std::nullopt;
}

bool is_folding_fastest() noexcept {
#ifdef ONNXAR_HAVE_ISAL
  static const bool wide = has_wide_vectors();
  return can_fold() && !wide;
#else
  return can_fold();
#endif
}

#else

std::optional<FoldedCrc32> fold_crc32(std::uint32_t, Bytes) noexcept { return std::nullopt; }
bool is_folding_fastest() noexcept { return false; }

#endif

}  // namespace onnxar::base
