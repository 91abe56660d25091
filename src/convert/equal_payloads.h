// Finds payloads with equal bytes, which an output of several models stores once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "base/kept.h"
#include "convert/payload.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Finds equal payloads by their CRC-32, and compares each match byte for byte. Not synchronised.
///
/// Most payloads differ from all others in their type, size or first bytes, and are not read further. Any other payload
/// is read at most three times, for any input: for its CRC-32, and for one comparison with the first payload that has
/// the same CRC-32. So the cost is linear in the bytes of all payloads. If data was made so that CRC-32s collide, equal
/// payloads may be missed, but nothing worse happens.
class EqualPayloads {
 public:
  /// Computes the checksums of large payloads on `threads` threads; 0 means as many as there are cores.
  explicit EqualPayloads(std::size_t threads = 1) : threads_(threads) {}

  /// Returns the first payload of this type with the bytes of `kept`; null if this is the first. Reads `kept`, if it is
  /// not the first, to its end with its checks (Payload::source). If reading produces the first, compares it only up to
  /// 16 MiB, because it must be in memory for that. Throws what reading the payloads throws.
  const Payload* first_of(DataType type, base::Kept<const Payload> kept);

 private:
  struct Met {
    const Payload* first = nullptr;
    bool is_alone = true;  // no other payload has had this key yet, so the first was not read further
  };
  /// States how much of a payload is read. Each level distinguishes payloads that the previous one did not, and costs
  /// more.
  enum class Level : std::uint8_t { size, beginning, all };
  /// Identifies data by level, type, size, and the CRC-32 of what the level reads.
  using Key = std::tuple<Level, DataType, std::uint64_t, std::uint32_t>;

  [[nodiscard]] Key key_at(Level level, DataType type, const Payload& payload) const;

  std::size_t threads_;
  std::map<Key, Met> met_;
};

}  // namespace onnxar
