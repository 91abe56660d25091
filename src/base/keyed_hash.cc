#include "base/keyed_hash.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/little_endian.h"
#include "onnxar/bytes.h"

namespace onnxar::base {
namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);

std::uint64_t random_word() {
  std::random_device random;  // gives 32 bits at a time
  const std::uint64_t high = random();
  return high << 32U | random();
}

}  // namespace

/// Uses loads of fixed sizes, which compile to single instructions. They may overlap, which does no harm: both loads
/// put the same bits in the same place.
std::uint64_t short_word(std::string_view text) noexcept {
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

std::uint64_t sip_hash(const SipHash::Key& key, std::string_view text) noexcept {
  SipHash hash(key);
  const std::size_t length = text.size();
  for (; text.size() >= word_size; text.remove_prefix(word_size)) hash.absorb(load<std::uint64_t>(as_bytes(text), 0));
  return hash.finish(short_word(text), length);
}

const SipHash::Key& process_key() {
  static const SipHash::Key key{random_word(), random_word()};
  return key;
}

namespace {

constexpr std::size_t lanes = DigestKey::group / 2;
constexpr std::size_t group_size = DigestKey::group * sizeof(std::uint32_t);

/// NH of whole groups, twice: with the key's words from the first on, and from those of the second group on. A word is
/// multiplied by the one that is half a group after it. REQUIRES: a multiple of the size of a group, at most a block
void absorb_sums(SipHash& hash, const DigestKey::Words& key, Bytes bytes) noexcept {
  std::array<std::uint64_t, lanes> first{}, second{};
  const std::uint32_t* words = key.data();
  for (; !bytes.empty(); bytes = bytes.subspan(group_size), words += DigestKey::group) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const auto low = load<std::uint32_t>(bytes, i * sizeof(std::uint32_t));
      const auto high = load<std::uint32_t>(bytes, (lanes + i) * sizeof(std::uint32_t));
      first[i] += std::uint64_t{low + words[i]} * (high + words[lanes + i]);
      second[i] += std::uint64_t{low + words[2 * lanes + i]} * (high + words[3 * lanes + i]);
    }
  }
  hash.absorb(first[0] + first[1] + first[2] + first[3]);
  hash.absorb(second[0] + second[1] + second[2] + second[3]);
}

}  // namespace

DigestKey::DigestKey(const SipHash::Key& key) noexcept : sip(key), words() {
  for (std::size_t i = 0; i < words.size(); i += 2) {
    SipHash hash(key);
    hash.absorb(i);
    const std::uint64_t both = hash.finish(0, sizeof(std::uint64_t));
    words[i] = static_cast<std::uint32_t>(both);
    words[i + 1] = static_cast<std::uint32_t>(both >> 32U);
  }
}

const DigestKey& process_digest_key() {
  static const DigestKey key(process_key());
  return key;
}

void KeyedDigest::add(Bytes piece) noexcept {
  length_ += piece.size();
  if (rest_size_ != 0) {
    const std::size_t count = std::min(piece.size(), rest_.size() - rest_size_);
    std::copy_n(piece.begin(), count, rest_.begin() + static_cast<std::ptrdiff_t>(rest_size_));
    rest_size_ += count;
    piece = piece.subspan(count);
    if (rest_size_ < rest_.size()) return;
    absorb_sums(hash_, key_->words, rest_);
  }
  for (; piece.size() >= block_size; piece = piece.subspan(block_size)) {
    absorb_sums(hash_, key_->words, piece.first(block_size));
  }
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
  std::array<std::byte, block_size> padded{};
  std::copy_n(rest_.begin(), rest_size_, padded.begin());
  SipHash end = hash_;
  absorb_sums(end, key_->words, Bytes(padded).first((rest_size_ + group_size - 1) / group_size * group_size));
  end.absorb(length_);  // tells zeros of the data from those that pad it
  return end.finish_wide(0, length_);
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
