#include "zip/name_index.h"

#include <bit>
#include <random>

#include "base/ascii_words.h"
#include "base/little_endian.h"
#include "onnxar/bytes.h"

namespace onnxar::zip {
namespace {

// GCC and clang both have it; ISO C++ does not, which -Wpedantic would say.
__extension__ using Wide = unsigned __int128;

std::uint64_t process_key() {
  static const std::uint64_t key = [] {
    std::random_device random;
    return (std::uint64_t{random()} << 32U) | random();
  }();
  return key;
}

/// Both halves of the product, so that every bit of the inputs reaches every bit of the result.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

constexpr std::size_t word_size = sizeof(std::uint64_t);

/// REQUIRES: so many bytes from `position` on
template <typename Word>
Word word_at(std::string_view text, std::size_t position) noexcept {
  return base::load<Word>(as_bytes(text), position);
}

/// One to eight characters, by loads of fixed sizes that overlap: the length is in the hash already.
std::uint64_t last_word(std::string_view rest) noexcept {
  if (rest.size() == word_size) return word_at<std::uint64_t>(rest, 0);
  if (rest.size() >= 4) {
    return word_at<std::uint32_t>(rest, 0) | std::uint64_t{word_at<std::uint32_t>(rest, rest.size() - 4)} << 32U;
  }
  const auto at = [rest](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(rest[i])}; };
  return at(0) | at(rest.size() / 2) << 8U | at(rest.size() - 1) << 16U;
}

constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15ULL;  // odd, bits well spread: the golden ratio's

}  // namespace

NameIndex::NameIndex(std::size_t count) : slots_(std::bit_ceil(count * 2 + 1)), mask_(slots_.size() - 1) {}

NameIndex::Hasher::Hasher() : key_(process_key()), state_(key_) {}

void NameIndex::Hasher::absorb(std::string_view part) {
  state_ = mix(state_ ^ part.size(), multiplier);
  for (; part.size() > word_size; part.remove_prefix(word_size)) absorb_word(word_at<std::uint64_t>(part, 0));
  if (!part.empty()) absorb_word(last_word(part));
}

void NameIndex::Hasher::absorb_word(std::uint64_t word) {
  state_ = mix(state_ ^ base::folded_word(word), multiplier ^ key_);
}

std::uint64_t NameIndex::hash_of(std::string_view name) {
  Hasher hasher;
  while (true) {
    const std::size_t slash = name.find('/');
    hasher.absorb(name.substr(0, slash));
    if (slash == std::string_view::npos) return hasher.value();
    name.remove_prefix(slash + 1);
  }
}

}  // namespace onnxar::zip
