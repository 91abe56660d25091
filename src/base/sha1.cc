// Computes SHA-1 (FIPS 180-4).
#include "base/sha1.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <utility>

#include "base/block_hash.h"

namespace onnxar::base {
namespace {

std::atomic<std::uint64_t> summed = 0;

/// Implements the four functions and constants of the standard, each for 20 of the 80 rounds.
template <std::size_t round>
constexpr std::uint32_t mixed(std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
  // "Choose" and "majority" are written with one operation fewer than in the standard.
  if constexpr (round < 20) return (d ^ (b & (c ^ d))) + 0x5a827999;
  if constexpr (round >= 20 && round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if constexpr (round >= 40 && round < 60) return ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

/// Computes the 80 rounds of one block. The message schedule keeps only the 16 words that later rounds still need.
class Rounds {
 public:
  // The first 16 rounds fill the words before any round reads them, so setting them to zero would be wasted work.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
  Rounds(const std::array<std::uint32_t, 5>& state, const std::byte* block) noexcept : state_(state), block_(block) {}

  [[nodiscard]] const std::array<std::uint32_t, 5>& state() const noexcept { return state_; }

  template <std::size_t... round>
  void run(std::index_sequence<round...> /*all*/) noexcept {
    (step<round>(), ...);
  }

 private:
  template <std::size_t round>
  std::uint32_t word() noexcept {
    if constexpr (round < 16) return words_[round] = load_big_endian(block_ + 4 * round);
    return words_[round % 16] = std::rotl(
               words_[(round + 13) % 16] ^ words_[(round + 8) % 16] ^ words_[(round + 2) % 16] ^ words_[round % 16], 1);
  }

  /// Computes one round. Instead of moving the five variables by one place in each round, each round names them one
  /// place further on, so they stay in registers. After 80 rounds, a multiple of five, each is back in its own place.
  template <std::size_t round>
  void step() noexcept {
    const std::uint32_t a = at<round, 0>();
    std::uint32_t& b = at<round, 1>();
    std::uint32_t& e = at<round, 4>();
    e += std::rotl(a, 5) + mixed<round>(b, at<round, 2>(), at<round, 3>()) + word<round>();
    b = std::rotl(b, 30);
  }

  template <std::size_t round, std::size_t variable>
  std::uint32_t& at() noexcept {
    return state_[(variable + 80 - round) % 5];
  }

  std::array<std::uint32_t, 5> state_;
  const std::byte* block_;
  std::array<std::uint32_t, 16> words_;
};

void add_blocks(BlockHash::State& state, const std::byte* block, std::size_t count) noexcept {
  for (; count != 0; --count, block += BlockHash::block_size) {
    Rounds rounds({state[0], state[1], state[2], state[3], state[4]}, block);
    rounds.run(std::make_index_sequence<80>());
    for (std::size_t i = 0; i < rounds.state().size(); ++i) state[i] += rounds.state()[i];
  }
}

}  // namespace

Sha1::Sha1() noexcept : hash_({0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, add_blocks) {}

void Sha1::update(Bytes bytes) noexcept {
  summed.fetch_add(bytes.size(), std::memory_order_relaxed);
  hash_.update(bytes);
}

std::uint64_t Sha1::bytes_summed() noexcept { return summed; }

}  // namespace onnxar::base
