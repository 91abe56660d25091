// The hash for every table whose keys come from files. Its key is random, so an attacker cannot prepare names that
// collide.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// SipHash-1-3 (Aumasson and Bernstein 2012), word by word: one round per word, three at the end.
class SipHash {
 public:
  struct Key {
    std::uint64_t low = 0, high = 0;
  };
  /// 128 bits.
  using Wide = std::pair<std::uint64_t, std::uint64_t>;

  explicit constexpr SipHash(const Key& key) noexcept
      : a_(key.low ^ 0x736f6d6570736575ULL),
        b_(key.high ^ 0x646f72616e646f6dULL),
        c_(key.low ^ 0x6c7967656e657261ULL),
        d_(key.high ^ 0x7465646279746573ULL) {}

  /// The variant with 128 bits: `finish_wide` ends it.
  static constexpr SipHash wide(const Key& key) noexcept {
    SipHash hash(key);
    hash.b_ ^= 0xee;
    return hash;
  }

  constexpr void absorb(std::uint64_t word) noexcept {
    d_ ^= word;
    round();
    a_ ^= word;
  }

  /// The hash of all absorbed words and of `rest`, which holds the last `length` % 8 bytes; `length` counts all bytes.
  [[nodiscard]] constexpr std::uint64_t finish(std::uint64_t rest, std::uint64_t length) const noexcept {
    SipHash end = *this;
    end.absorb(rest | length << 56U);
    end.c_ ^= 0xff;
    return end.rounds_at_end();
  }
  /// As `finish`, for `wide`.
  [[nodiscard]] constexpr Wide finish_wide(std::uint64_t rest, std::uint64_t length) const noexcept {
    SipHash end = *this;
    end.absorb(rest | length << 56U);
    end.c_ ^= 0xee;
    const std::uint64_t first = end.rounds_at_end();
    end.b_ ^= 0xdd;
    return {first, end.rounds_at_end()};
  }

 private:
  constexpr std::uint64_t rounds_at_end() noexcept {
    for (int i = 0; i < 3; ++i) round();
    return a_ ^ b_ ^ c_ ^ d_;
  }
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

/// At most seven bytes as a little-endian number. REQUIRES: text.size() < 8
std::uint64_t short_word(std::string_view text) noexcept;

std::uint64_t sip_hash(const SipHash::Key& key, std::string_view text) noexcept;

/// The random key of this process. Errors: those of std::random_device.
const SipHash::Key& process_key();

/// Hashes texts, numbers, and pairs of them under the key of this process. Hashes differ between processes, so output
/// must not depend on the order of a table.
///
/// The calls are deliberately not noexcept: only then does libstdc++ store the hashes of a table's elements. Otherwise
/// it computes them again for each step along a bucket.
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

  template <typename First, typename Second>
  std::size_t operator()(const std::pair<First, Second>& both) const {
    SipHash hash(process_key());
    hash.absorb((*this)(both.first));
    hash.absorb((*this)(both.second));
    return static_cast<std::size_t>(hash.finish(0, 2 * sizeof(std::uint64_t)));
  }
};

template <typename Key, typename Value>
using KeyedMap = std::unordered_map<Key, Value, KeyedHash, std::equal_to<>>;
template <typename Key>
using KeyedSet = std::unordered_set<Key, KeyedHash, std::equal_to<>>;

// Digests of data, to find equal data.

using Digest = SipHash::Wide;

/// The key of digests: that of SipHash, and numbers that are made of it.
struct DigestKey {
  static constexpr std::size_t group = 8;                  // words
  static constexpr std::size_t block = 32 * group;         // words
  using Words = std::array<std::uint32_t, block + group>;  // the second sum begins a group later

  explicit DigestKey(const SipHash::Key& key) noexcept;

  SipHash::Key sip;
  Words words;
};

/// The key of this process.
const DigestKey& process_digest_key();

/// A digest of 128 bits, of bytes that come in pieces. Under the random key of the process, so an attacker cannot
/// prepare data that collides; digests differ between processes. Not synchronised.
///
/// SipHash reads a word at a time, each after the one before. Weights have gigabytes, so blocks of 1 KiB are first
/// hashed by NH (Black, Halevi, Krawczyk, Krovetz and Rogaway 1999), whose products do not wait for each other, and
/// SipHash-1-3 gets two sums of each: the sums of two different blocks agree with a probability of 2^-64.
class KeyedDigest {
 public:
  /// The key must outlive it.
  explicit KeyedDigest(const DigestKey& key = process_digest_key()) noexcept
      : key_(&key), hash_(SipHash::wide(key.sip)) {}

  void add(Bytes piece) noexcept;
  /// Adds a number as eight bytes.
  void add(std::uint64_t number) noexcept;
  /// The digest of all that was added.
  [[nodiscard]] Digest result() const noexcept;

 private:
  static constexpr std::size_t block_size = DigestKey::block * sizeof(std::uint32_t);

  const DigestKey* key_;
  SipHash hash_;
  std::array<std::byte, block_size> rest_{};  // the first bytes of a block that is not complete
  std::size_t rest_size_ = 0;
  std::uint64_t length_ = 0;
};

/// Whether `source` gives exactly these bytes. REQUIRES: source.size() == bytes.size(). Errors: those of the source.
bool has_bytes(const ByteSource& source, Bytes bytes);

}  // namespace onnxar::base
