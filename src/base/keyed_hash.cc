// Computes SipHash-1-3 with a random key for tables whose keys come from files.
#include "base/keyed_hash.h"

#include <cstring>
#include <random>

#include "base/little_endian.h"
#include "onnxar/bytes.h"

namespace onnxar::base {
namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);

std::uint64_t random_word() {
  std::random_device random;  // produces 32 bits at a time
  const std::uint64_t high = random();
  return high << 32U | random();
}

}  // namespace

/// Uses loads of fixed sizes, which compile to single instructions. The loads may overlap: both put the same bits in
/// the same place.
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

bool has_bytes(const ByteSource& source, Bytes bytes) {
  bool same = true;
  source.read([&](Bytes piece) {
    // A sink can stop the source early only by an exception, which the library would rethrow.
    same = same && (piece.empty() || std::memcmp(piece.data(), bytes.data(), piece.size()) == 0);
    bytes = bytes.subspan(piece.size());
  });
  return same;
}

}  // namespace onnxar::base
