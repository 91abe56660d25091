// Mutations that know the format of an input. Readers refuse most random changes at the first length or offset that no
// longer fits; these keep the rest of the input consistent, so that readers must judge the change itself. For fuzzers.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "support/wire_builder.h"

namespace onnxar::fuzz {

using testing::Blob;
using Random = std::minstd_rand;

/// A number below `bound`, which is not 0.
inline std::size_t below(Random& random, std::size_t bound) { return random() % bound; }
inline bool one_in(Random& random, std::size_t n) { return below(random, n) == 0; }

template <typename T, std::size_t n>
const T& pick(Random& random, const T (&all)[n]) {  // NOLINT(modernize-avoid-c-arrays): tables without a type's name
  return all[below(random, n)];
}

/// Changes bytes without regard to their format, by libFuzzer's own mutations. The result may be longer.
Blob mutate_bytes(Blob bytes);

/// A number that readers may treat in a special way, or one near `value`.
std::uint64_t odd_number(Random& random, std::uint64_t value);

/// Changes a few fields of a serialised ModelProto: they are removed, doubled, swapped, moved, added, or get another
/// value. The lengths of the messages around them follow. Bytes that are not a message come back unchanged.
Blob mutate_model(const Blob& model, Random& random);
/// Copies a field of the second model into the first.
Blob cross_models(const Blob& model, const Blob& other, Random& random);

/// Changes a zip: a field by its name, records that are moved, doubled or cut, names, data, extra fields, edits. Then
/// mends sizes, offsets, counts and CRC-32s, almost always.
Blob mutate_zip(const Blob& zip, Random& random);

}  // namespace onnxar::fuzz
