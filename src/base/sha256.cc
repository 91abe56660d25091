// Computes SHA-256 (FIPS 180-4), with instructions of the processor if it has them.
#include "base/sha256.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/block_hash.h"
#include "os/process.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__AARCH64EL__) && defined(__GNUC__)
#include <arm_neon.h>
#endif

namespace onnxar::base {
namespace {

using State = BlockHash::State;

constexpr std::size_t rounds = 64;

/// The constants of the standard: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr std::array<std::uint32_t, rounds> constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// Returns the message schedule of a block: its 16 words, and 48 more that depend on them.
std::array<std::uint32_t, rounds> schedule(const std::byte* block) noexcept {
  std::array<std::uint32_t, rounds> w{};
  for (std::size_t i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
  for (std::size_t i = 16; i < rounds; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3U;
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10U;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  return w;
}

void add_blocks_plainly(State& state, const std::byte* block, std::size_t count) noexcept {
  for (; count != 0; --count, block += BlockHash::block_size) {
    const std::array<std::uint32_t, rounds> w = schedule(block);
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < rounds; ++i) {
      const std::uint32_t choice = g ^ (e & (f ^ g));
      const std::uint32_t majority = (a & b) | (c & (a | b));
      const std::uint32_t first =
          h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + constants[i] + w[i];
      const std::uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
      h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const State sums = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += sums[i];
  }
}

// Both kinds of processors keep the 16 words of the schedule that later rounds need in four vectors, and compute four
// rounds per vector. The loops over the vectors are unrolled, so that the vectors stay in registers.

#if defined(__x86_64__) && defined(__GNUC__)

__attribute__((target("sha,ssse3"))) void add_blocks_by_instructions(State& state, const std::byte* block,
                                                                     std::size_t count) noexcept {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  // The instructions take the variables in this order, the first one highest.
  const auto both = [](std::uint32_t i, std::uint32_t j, std::uint32_t k, std::uint32_t l) {
    return std::bit_cast<__m128i>(std::array{l, k, j, i});
  };
  __m128i abef = both(state[0], state[1], state[4], state[5]);
  __m128i cdgh = both(state[2], state[3], state[6], state[7]);
  for (; count != 0; --count, block += BlockHash::block_size) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i w[4];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), big_endian);
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) {
      __m128i& words = w[i % 4];
      const __m128i last = w[(i + 3) % 4];
      const __m128i sums = _mm_add_epi32(words, _mm_load_si128(reinterpret_cast<const __m128i*>(&constants[4 * i])));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sums);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sums, 0b1110));
      if (i >= 12) continue;  // no later round needs further words
      const __m128i middle = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
      words = _mm_add_epi32(_mm_sha256msg1_epu32(words, w[(i + 1) % 4]), middle);
      words = _mm_sha256msg2_epu32(words, last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const auto [f, e, b, a] = std::bit_cast<std::array<std::uint32_t, 4>>(abef);
  const auto [h, g, d, c] = std::bit_cast<std::array<std::uint32_t, 4>>(cdgh);
  state = {a, b, c, d, e, f, g, h};
}

/// True if the processor reports the instructions. Bits are numbered as in Intel's manual (volume 2, CPUID).
bool ask_for_instructions() noexcept {
  constexpr unsigned ssse3 = 1U << 9U;  // leaf 1, ecx
  constexpr unsigned sha = 1U << 29U;   // leaf 7, ebx
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (::__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & ssse3) == 0) return false;
  return ::__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & sha) != 0;
}

#elif defined(__AARCH64EL__) && defined(__GNUC__)

__attribute__((target("+sha2"))) void add_blocks_by_instructions(State& state, const std::byte* block,
                                                                 std::size_t count) noexcept {
  uint32x4_t abcd = vld1q_u32(state.data());
  uint32x4_t efgh = vld1q_u32(state.data() + 4);
  for (; count != 0; --count, block += BlockHash::block_size) {
    const uint32x4_t abcd_before = abcd;
    const uint32x4_t efgh_before = efgh;
    uint32x4_t w[4];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(block) + 16 * i)));
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) {
      uint32x4_t& words = w[i % 4];
      const uint32x4_t sums = vaddq_u32(words, vld1q_u32(&constants[4 * i]));
      const uint32x4_t abcd_last = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sums);
      efgh = vsha256h2q_u32(efgh, abcd_last, sums);
      if (i >= 12) continue;  // no later round needs further words
      words = vsha256su1q_u32(vsha256su0q_u32(words, w[(i + 1) % 4]), w[(i + 2) % 4], w[(i + 3) % 4]);
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(state.data(), abcd);
  vst1q_u32(state.data() + 4, efgh);
}

bool ask_for_instructions() noexcept { return os::has_sha256(); }

#else

constexpr BlockHash::AddBlocks add_blocks_by_instructions = add_blocks_plainly;
bool ask_for_instructions() noexcept { return false; }

#endif

}  // namespace

bool has_sha256_instructions() noexcept {
  static const bool has = ask_for_instructions();  // CPUID takes microseconds in a virtual machine
  return has;
}

Sha256::Sha256(bool by_instructions) noexcept
    : hash_({0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
            by_instructions ? add_blocks_by_instructions : add_blocks_plainly) {}

}  // namespace onnxar::base
