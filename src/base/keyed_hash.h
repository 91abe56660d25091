// Hashes the keys of every table whose keys come from files. The hash key is random, so an attacker cannot prepare
// names that collide.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/little_endian.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Computes SipHash-1-3 (Aumasson and Bernstein 2012) word by word: one round per word, three at the end.
class SipHash {
 public:
  struct Key {
    std::uint64_t low = 0, high = 0;
  };

  explicit constexpr SipHash(const Key& key) noexcept
      : a_(key.low ^ 0x736f6d6570736575ULL),
        b_(key.high ^ 0x646f72616e646f6dULL),
        c_(key.low ^ 0x6c7967656e657261ULL),
        d_(key.high ^ 0x7465646279746573ULL) {}

  constexpr void absorb(std::uint64_t word) noexcept {
    d_ ^= word;
    round();
    a_ ^= word;
  }

  /// Returns the hash of all absorbed words and of `rest`, which holds the last `length` % 8 bytes; `length` counts all
  /// bytes.
  [[nodiscard]] constexpr std::uint64_t finish(std::uint64_t rest, std::uint64_t length) const noexcept {
    SipHash end = *this;
    end.absorb(rest | length << 56U);
    end.c_ ^= 0xff;
    for (int i = 0; i < 3; ++i) end.round();
    return end.a_ ^ end.b_ ^ end.c_ ^ end.d_;
  }

 private:
  constexpr void round() noexcept {
    a_ += b_;
    b_ = std::rotl(b_, 13) ^ a_;
    a_ = std::rotl(a_, 32);
    c_ += d_;
    d_ = std::rotl(d_, 16) ^ c_;
    a_ += d_;
    d_ = std::rotl(d_, 21) ^ a_;
    c_ += b_;
    b_ = std::rotl(b_, 17) ^ c_;
    c_ = std::rotl(c_, 32);
  }

  std::uint64_t a_, b_, c_, d_;
};

/// Returns at most seven bytes as a little-endian number. Uses loads of fixed sizes, which compile to single
/// instructions. The loads may overlap: both put the same bits in the same place. REQUIRES: text.size() < 8
inline std::uint64_t short_word(std::string_view text) noexcept {
  if (text.empty()) return 0;
  if (text.size() >= 4) {
    const std::size_t last = text.size() - 4;
    return load<std::uint32_t>(as_bytes(text), 0) | std::uint64_t{load<std::uint32_t>(as_bytes(text), last)}
                                                        << 8 * last;
  }
  const auto byte_in_place = [text](std::size_t i) {
    return std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
  };
  return byte_in_place(0) | byte_in_place(text.size() / 2) | byte_in_place(text.size() - 1);
}

/// Absorbs `text` word by word, after `map` has changed each word. Returns the rest, which has less than eight bytes.
template <auto map>
inline std::string_view absorb_words(SipHash& hash, std::string_view text) noexcept {
  SipHash local = hash;  // stays in registers
  constexpr std::size_t word_size = sizeof(std::uint64_t);
  for (; text.size() >= word_size; text.remove_prefix(word_size)) {
    local.absorb(map(load<std::uint64_t>(as_bytes(text), 0)));
  }
  hash = local;
  return text;
}

/// Returns the last `text.size()` % 8 bytes as a little-endian number. A text of one word or more needs no branch: the
/// bytes before them are loaded, too, and shifted out in two steps, because a shift by 64 bits is undefined.
inline std::uint64_t last_word(std::string_view text) noexcept {
  constexpr std::size_t word_size = sizeof(std::uint64_t);
  if (text.size() < word_size) return short_word(text);
  const std::size_t before = word_size - 1 - text.size() % word_size;
  return load<std::uint64_t>(as_bytes(text), text.size() - word_size) >> 8 * before >> 8;
}

/// Returns the hash of `text`, after `map` has changed each word.
template <auto map = std::identity()>
inline std::uint64_t sip_hash(const SipHash::Key& key, std::string_view text) noexcept {
  SipHash hash(key);
  absorb_words<map>(hash, text);
  return hash.finish(map(last_word(text)), text.size());
}

/// Returns the random key of this process. Throws what std::random_device throws.
const SipHash::Key& process_key();

/// Hashes texts and numbers under the key of this process. Hashes differ between processes, so output must not depend
/// on the order of a table.
///
/// The calls are deliberately not noexcept: libstdc++ then stores the hashes of a table's elements. Otherwise it would
/// compute them again for each step along a bucket.
struct KeyedHash {
  using is_transparent = void;

  std::size_t operator()(std::string_view text) const {
    return static_cast<std::size_t>(sip_hash(process_key(), text));
  }

  std::size_t operator()(std::integral auto number) const {
    SipHash hash(process_key());
    hash.absorb(static_cast<std::uint64_t>(number));
    return static_cast<std::size_t>(hash.finish(0, sizeof(std::uint64_t)));
  }
};

template <typename Key, typename Value>
using KeyedMap = std::unordered_map<Key, Value, KeyedHash, std::equal_to<>>;
template <typename Key>
using KeyedSet = std::unordered_set<Key, KeyedHash, std::equal_to<>>;

}  // namespace onnxar::base
