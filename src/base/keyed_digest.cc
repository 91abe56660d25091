#include "base/keyed_digest.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/little_endian.h"

namespace onnxar::base {

void KeyedDigest::add(Bytes piece) noexcept {
  length_ += piece.size();
  if (rest_size_ != 0) {
    const std::size_t count = std::min(piece.size(), rest_.size() - rest_size_);
    std::copy_n(piece.begin(), count, rest_.begin() + static_cast<std::ptrdiff_t>(rest_size_));
    rest_size_ += count;
    piece = piece.subspan(count);
    if (rest_size_ < rest_.size()) return;
    hash_.absorb(load<std::uint64_t>(rest_, 0));
  }
  SipHash hash = hash_;  // a local copy stays in registers
  for (; piece.size() >= rest_.size(); piece = piece.subspan(rest_.size())) hash.absorb(load<std::uint64_t>(piece, 0));
  hash_ = hash;
  std::ranges::copy(piece, rest_.begin());
  rest_size_ = piece.size();
}

void KeyedDigest::add(std::uint64_t number) noexcept {
  std::array<std::byte, sizeof number> bytes{};
  number = little_endian(number);
  std::memcpy(bytes.data(), &number, sizeof number);
  add(Bytes(bytes));
}

Digest KeyedDigest::result() const noexcept {
  return hash_.finish_wide(short_word(as_text(Bytes(rest_).first(rest_size_))), length_);
}

bool has_bytes(const ByteSource& source, Bytes bytes) {
  bool same = true;
  source.read([&](Bytes piece) {
    // A sink cannot stop the source early except by an exception, which the library would throw again.
    same = same && (piece.empty() || std::memcmp(piece.data(), bytes.data(), piece.size()) == 0);
    bytes = bytes.subspan(piece.size());
  });
  return same;
}

}  // namespace onnxar::base
