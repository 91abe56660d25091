// Digests of data, by which equal data is found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/keyed_hash.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

using Digest = SipHash::Wide;

/// SipHash-1-3 with 128 bits, of bytes that come in pieces. Under the random key of the process, so an attacker cannot
/// prepare data that collides; digests differ between processes. Not synchronised.
class KeyedDigest {
 public:
  explicit KeyedDigest(const SipHash::Key& key = process_key()) noexcept : hash_(SipHash::wide(key)) {}

  void add(Bytes piece) noexcept;
  /// Adds a number as eight bytes.
  void add(std::uint64_t number) noexcept;
  /// The digest of all that was added.
  [[nodiscard]] Digest result() const noexcept;

 private:
  SipHash hash_;
  std::array<std::byte, sizeof(std::uint64_t)> rest_{};  // the first bytes of a word that is not complete
  std::size_t rest_size_ = 0;
  std::uint64_t length_ = 0;
};

/// Whether `source` gives exactly these bytes. REQUIRES: source.size() == bytes.size(). Errors: those of the source.
bool has_bytes(const ByteSource& source, Bytes bytes);

}  // namespace onnxar::base
