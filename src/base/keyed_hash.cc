// Makes the random key of this process.
#include "base/keyed_hash.h"

#include <random>

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

}  // namespace onnxar::base
