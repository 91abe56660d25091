// Finds payloads with equal bytes, which an output of several models holds once.
#pragma once

#include <cstddef>

#include "base/keyed_hash.h"
#include "onnxar/tensor.h"
#include "source/payload.h"

namespace onnxar {

/// Finds equal payloads by digests, and compares each match byte for byte. Not synchronised.
///
/// Most payloads differ from all others in their type, size or first bytes, and are not read further. Any other is read
/// at most three times, whatever the input is: for its digest, and for one comparison with the first payload that has
/// this digest. So the cost is linear in the bytes of all payloads.
class EqualPayloads {
 public:
  /// `threads` make digests of large payloads; 0: as many as there are cores.
  explicit EqualPayloads(std::size_t threads = 1) : threads_(threads) {}

  /// The first payload of this type with the bytes of `payload`; null if this is the first. The payload must outlive
  /// this object. The one that is not the first is read to its end with its checks (Payload::source). If reading
  /// produces the first, it is compared only up to 16 MiB, since it has to be in memory for that. Errors: those of
  /// reading.
  const Payload* first_of(DataType type, const Payload& payload);

 private:
  struct Met {
    const Payload* first = nullptr;
    bool is_alone = true;  // no second payload had this digest yet, so the first was not read further
  };

  std::size_t threads_;
  base::KeyedMap<base::Digest, Met> met_;
};

}  // namespace onnxar
