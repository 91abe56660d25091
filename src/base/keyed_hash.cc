// Makes the random key of this process, and compares the bytes of a source with others.
#include "base/keyed_hash.h"

#include <cstring>
#include <random>

#include "onnxar/bytes.h"

namespace onnxar::base {
namespace {

std::uint64_t random_word() {
  std::random_device random;  // produces 32 bits at a time
  const std::uint64_t high = random();
  return high << 32U | random();
}

}  // namespace

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
