// Folds CRC-32 with the carry-less multiplication of the processor.
#include "base/crc32_fold.h"

#include <algorithm>

#include "base/memory.h"
#include "os/process.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define ONNXAR_FOLDS
#elif defined(__AARCH64EL__) && defined(__GNUC__)
#include <arm_neon.h>
#define ONNXAR_FOLDS
#endif

namespace onnxar::base {

#ifdef ONNXAR_FOLDS

namespace {

/// The polynomial of zip's CRC-32 without x^32, reflected: x^31 is the lowest bit.
constexpr std::uint32_t crc32_polynomial = 0xEDB88320;

using FoldFunction = void (*)(std::byte* block, const std::byte* from, std::size_t blocks) noexcept;

/// Returns x^power modulo the polynomial, in the bit order of CRC-32 (x^0 is the highest bit). The result is the 64-bit
/// multiplier that carry-less multiplication of reflected numbers needs: shifted by one, because a product of two
/// 64-bit numbers has 127 bits.
constexpr std::int64_t multiplier(unsigned power) {
  std::uint32_t remainder = 0x80000000;
  for (unsigned i = 0; i < power; ++i) remainder = (remainder >> 1U) ^ ((remainder & 1U) != 0 ? crc32_polynomial : 0);
  return static_cast<std::int64_t>(std::uint64_t{remainder} << 1U);
}
static_assert(multiplier(4 * 128 + 32) == 0x154442bd4 && multiplier(4 * 128 - 32) == 0x1c6e41596,
              "as published for folding by 512 bits");

constexpr unsigned block_bits = 8 * FoldedCrc32::size;
constexpr std::int64_t by_low = multiplier(block_bits + 32);
constexpr std::int64_t by_high = multiplier(block_bits - 32);

// Multiplying 128 bits by x^(bits of a block) and adding them to the bits one block later does not change the
// remainder. One block is left at the end. It has the same CRC as all blocks that were folded into it. The vectors of a
// block are independent chains, which hide the latency of a multiplication. The intrinsics of each width have different
// names, and the target CPU cannot be a template argument, so this is written once for each width. Loops over the
// vectors must be unrolled, which compilers do only at -O3; otherwise the vectors are in memory.

#ifdef __x86_64__

// Clang 18 to 21 have a separate feature for 512 bits, which zig's x86-64 omits.
#if defined(__clang__) && __clang_major__ >= 18 && __clang_major__ <= 21
#define ONNXAR_512 "evex512,avx512f"
#else
#define ONNXAR_512 "avx512f"
#endif

__attribute__((target("pclmul"))) void fold_128(std::byte* block, const std::byte* from, std::size_t blocks) noexcept {
  constexpr std::size_t chains = FoldedCrc32::size / sizeof(__m128i);
  const __m128i by = _mm_set_epi64x(by_high, by_low);
  __m128i sums[chains];
  for (std::size_t i = 0; i < chains; ++i) sums[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i);
  for (; blocks != 0; --blocks, from += FoldedCrc32::size) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < chains; ++i) {
      const __m128i low = _mm_clmulepi64_si128(sums[i], by, 0x00);
      const __m128i high = _mm_clmulepi64_si128(sums[i], by, 0x11);
      const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i);
      sums[i] = _mm_xor_si128(_mm_xor_si128(low, high), next);
    }
  }
  for (std::size_t i = 0; i < chains; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(block) + i, sums[i]);
}

__attribute__((target("avx2,pclmul,vpclmulqdq"))) void fold_256(std::byte* block, const std::byte* from,
                                                                std::size_t blocks) noexcept {
  constexpr std::size_t chains = FoldedCrc32::size / sizeof(__m256i);
  const __m256i by = _mm256_broadcastsi128_si256(_mm_set_epi64x(by_high, by_low));
  __m256i sums[chains];
  for (std::size_t i = 0; i < chains; ++i) sums[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block) + i);
  for (; blocks != 0; --blocks, from += FoldedCrc32::size) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < chains; ++i) {
      const __m256i low = _mm256_clmulepi64_epi128(sums[i], by, 0x00);
      const __m256i high = _mm256_clmulepi64_epi128(sums[i], by, 0x11);
      const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + i);
      sums[i] = _mm256_xor_si256(_mm256_xor_si256(low, high), next);
    }
  }
  for (std::size_t i = 0; i < chains; ++i) _mm256_storeu_si256(reinterpret_cast<__m256i*>(block) + i, sums[i]);
}

__attribute__((target(ONNXAR_512 ",avx2,pclmul,vpclmulqdq"))) void fold_512(std::byte* block, const std::byte* from,
                                                                            std::size_t blocks) noexcept {
  constexpr std::size_t chains = FoldedCrc32::size / sizeof(__m512i);
  constexpr std::size_t ahead = 4096;  // the hardware's prefetcher stops at each page border
  const __m512i by = _mm512_set4_epi64(by_high, by_low, by_high, by_low);
  __m512i sums[chains];
  for (std::size_t i = 0; i < chains; ++i) sums[i] = _mm512_loadu_si512(block + i * sizeof(__m512i));
  for (; blocks != 0; --blocks, from += FoldedCrc32::size) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < chains; ++i) {
      prefetch_line(from + ahead + i * sizeof(__m512i));
      const __m512i low = _mm512_clmulepi64_epi128(sums[i], by, 0x00);
      const __m512i high = _mm512_clmulepi64_epi128(sums[i], by, 0x11);
      sums[i] = _mm512_xor_si512(_mm512_xor_si512(low, high), _mm512_loadu_si512(from + i * sizeof(__m512i)));
    }
  }
  for (std::size_t i = 0; i < chains; ++i) _mm512_storeu_si512(block + i * sizeof(__m512i), sums[i]);
}

// Bits of CPUID and XCR0, as numbered in Intel's manual (volume 2, CPUID; volume 1, 13.3). Not __builtin_cpu_supports,
// which needs a library that not every compiler has.
constexpr unsigned pclmulqdq = 1U << 1U;                                // leaf 1, ecx
constexpr unsigned saves_registers = 1U << 27U;                         // leaf 1, ecx: OSXSAVE
constexpr unsigned avx2 = 1U << 5U;                                     // leaf 7, ebx
constexpr unsigned avx512f = 1U << 16U;                                 // leaf 7, ebx
constexpr unsigned vpclmulqdq = 1U << 10U;                              // leaf 7, ecx
constexpr unsigned registers_of_256 = 1U << 1U | 1U << 2U;              // XCR0
constexpr unsigned registers_of_512 = registers_of_256 | 0b111U << 5U;  // XCR0

struct Registers {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

/// Returns the registers of a CPUID leaf; all are zero if the processor does not have the leaf.
Registers ask(unsigned leaf) noexcept {
  Registers answer;
  ::__get_cpuid_count(leaf, 0, &answer.eax, &answer.ebx, &answer.ecx, &answer.edx);
  return answer;
}

/// True if the system saves these registers when it switches threads. Otherwise instructions that use them fault.
bool are_saved(unsigned registers) noexcept {
  if ((ask(1).ecx & saves_registers) == 0) return false;
  unsigned low = 0;
  unsigned high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & registers) == registers;
}

Fold ask_for_widest() noexcept {
  if ((ask(1).ecx & pclmulqdq) == 0) return Fold::none;
  const Registers features = ask(7);
  if ((features.ecx & vpclmulqdq) == 0 || (features.ebx & avx2) == 0 || !are_saved(registers_of_256)) {
    return Fold::by_128;
  }
  return (features.ebx & avx512f) != 0 && are_saved(registers_of_512) ? Fold::by_512 : Fold::by_256;
}

FoldFunction function_of(Fold width) noexcept {
  return width == Fold::by_512 ? fold_512 : width == Fold::by_256 ? fold_256 : fold_128;
}

#else

__attribute__((target("+crypto"))) void fold_128(std::byte* block, const std::byte* from, std::size_t blocks) noexcept {
  constexpr std::size_t chains = FoldedCrc32::size / sizeof(uint64x2_t);
  const auto load = [](const std::byte* at) {
    return vreinterpretq_u64_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(at)));
  };
  const auto by =
      vreinterpretq_p64_u64(uint64x2_t{static_cast<std::uint64_t>(by_low), static_cast<std::uint64_t>(by_high)});
  uint64x2_t sums[chains];
  for (std::size_t i = 0; i < chains; ++i) sums[i] = load(block + i * sizeof *sums);
  for (; blocks != 0; --blocks, from += FoldedCrc32::size) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < chains; ++i) {
      const poly64x2_t sum = vreinterpretq_p64_u64(sums[i]);
      const poly128_t low = vmull_p64(vgetq_lane_p64(sum, 0), vgetq_lane_p64(by, 0));
      const poly128_t high = vmull_high_p64(sum, by);
      const uint64x2_t both = veorq_u64(vreinterpretq_u64_p128(low), vreinterpretq_u64_p128(high));
      sums[i] = veorq_u64(both, load(from + i * sizeof *sums));
    }
  }
  for (std::size_t i = 0; i < chains; ++i) {
    vst1q_u8(reinterpret_cast<std::uint8_t*>(block + i * sizeof *sums), vreinterpretq_u8_u64(sums[i]));
  }
}

Fold ask_for_widest() noexcept { return os::has_pmull() ? Fold::by_128 : Fold::none; }

FoldFunction function_of(Fold /*width*/) noexcept { return fold_128; }

#endif

}  // namespace

FoldedCrc32 fold_crc32(Fold width, std::uint32_t crc, Bytes bytes) noexcept {
  FoldedCrc32 folded;
  std::ranges::copy(bytes.first(FoldedCrc32::size), folded.short_form.begin());
  // The CRC to be continued is xored into the first four bytes; starting from all ones cancels its inversion.
  folded.crc = ~std::uint32_t{0};
  for (unsigned i = 0; i < sizeof crc; ++i) folded.short_form[i] ^= static_cast<std::byte>(~crc >> 8 * i);
  const std::byte* from = bytes.data() + FoldedCrc32::size;
  const std::size_t blocks = bytes.size() / FoldedCrc32::size - 1;
  function_of(width)(folded.short_form.data(), from, blocks);
  folded.rest = bytes.last(bytes.size() % FoldedCrc32::size);
  return folded;
}

Fold widest_fold() noexcept {
  // CPUID takes microseconds in a virtual machine.
  static const Fold widest = ask_for_widest();
  return widest;
}

Fold fastest_fold() noexcept {
#ifdef ONNXAR_HAVE_ISAL
  return widest_fold() == Fold::by_256 ? Fold::by_256 : Fold::none;
#else
  return widest_fold();
#endif
}

#else

FoldedCrc32 fold_crc32(Fold /*width*/, std::uint32_t /*crc*/, Bytes /*bytes*/) noexcept { return {}; }
Fold widest_fold() noexcept { return Fold::none; }
Fold fastest_fold() noexcept { return Fold::none; }

#endif

}  // namespace onnxar::base
