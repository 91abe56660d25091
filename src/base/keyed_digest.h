// Digests of data, by which equal data is found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/keyed_hash.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

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
