#include "base/sha1.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string_view>
#include <utility>

namespace onnxar::base {
namespace {

std::atomic<std::uint64_t> summed = 0;

/// The four functions and constants of the standard, each for 20 of the 80 rounds.
template <std::size_t round>
constexpr std::uint32_t mixed(std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
  // "Choose" and "majority" are written with one operation fewer than in the standard.
  if constexpr (round < 20) return (d ^ (b & (c ^ d))) + 0x5a827999;
  if constexpr (round >= 20 && round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if constexpr (round >= 40 && round < 60) return ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

std::uint32_t load_big_endian(const std::byte* bytes) noexcept {
  // Compilers turn this into one load and a byte swap.
  return std::to_integer<std::uint32_t>(bytes[0]) << 24U | std::to_integer<std::uint32_t>(bytes[1]) << 16U |
         std::to_integer<std::uint32_t>(bytes[2]) << 8U | std::to_integer<std::uint32_t>(bytes[3]);
}

/// The 80 rounds of one block. The message schedule keeps only the 16 words that later rounds still need.
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

  /// Instead of moving the five variables by one place in each round, each round names them one place further on, so
  /// that they stay in registers. After 80 rounds, a multiple of five, each is at its own place again.
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

}  // namespace

void Sha1::add_block(State& state, const std::byte* block) noexcept {
  Rounds rounds(state, block);
  rounds.run(std::make_index_sequence<80>());
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += rounds.state()[i];
}

void Sha1::update(Bytes bytes) {
  summed.fetch_add(bytes.size(), std::memory_order_relaxed);
  const std::size_t held = size_ % block_size;
  size_ += bytes.size();
  if (held != 0) {
    const std::size_t added = std::min(block_size - held, bytes.size());
    std::ranges::copy(bytes.first(added), rest_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes = bytes.subspan(added);
    if (held + added < block_size) return;
    add_block(state_, rest_.data());
  }
  for (; bytes.size() >= block_size; bytes = bytes.subspan(block_size)) add_block(state_, bytes.data());
  std::ranges::copy(bytes, rest_.begin());
}

/// Appends the padding of the standard: a one bit, zeros, and the length in bits.
void Sha1::finish() noexcept {
  const std::uint64_t bits = size_ * 8;
  std::size_t held = size_ % block_size;
  rest_[held++] = std::byte{0x80};
  std::fill(rest_.begin() + static_cast<std::ptrdiff_t>(held), rest_.end(), std::byte{0});
  if (held > block_size - sizeof bits) {  // the length does not fit and goes to a further block
    add_block(state_, rest_.data());
    rest_.fill(std::byte{0});
  }
  for (std::size_t i = 0; i < sizeof bits; ++i) rest_[block_size - 1 - i] = static_cast<std::byte>(bits >> (8 * i));
  add_block(state_, rest_.data());
}

std::string Sha1::hex() && {
  constexpr std::string_view digits = "0123456789abcdef";
  finish();
  std::string text;
  for (const std::uint32_t word : state_) {
    for (unsigned shift = 32; shift != 0;) text += digits[word >> (shift -= 4) & 0xFU];
  }
  return text;
}

std::uint64_t Sha1::bytes_summed() noexcept { return summed; }

}  // namespace onnxar::base
