// The functions by which libFuzzer mutates inputs. CMake says what an input is: ONNXAR_FUZZ_ZIP or ONNXAR_FUZZ_MODEL,
// and with ONNXAR_FUZZ_TWO a second part of another form follows, and its length in 2 bytes (reader.h).
#include <algorithm>
#include <cstdint>

#include "fuzz/mutations.h"
#include "fuzz/reader.h"

// NOLINTBEGIN(readability-identifier-naming): libFuzzer's names
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1,
                                                 const std::uint8_t* data2, std::size_t size2, std::uint8_t* out,
                                                 std::size_t max_size, unsigned seed);
// NOLINTEND(readability-identifier-naming)

namespace onnxar::fuzz {
namespace {

#ifdef ONNXAR_FUZZ_ZIP
constexpr bool is_zip = true;
#else
constexpr bool is_zip = false;
#endif
#ifdef ONNXAR_FUZZ_TWO
constexpr bool is_two = true;
#else
constexpr bool is_two = false;
#endif

Blob blob_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

/// Some inputs of targets of models are archives, too.
Blob mutate_one(const Blob& bytes, Random& random) {
  if (one_in(random, 8)) return mutate_bytes(bytes);
  const bool zip = is_zip || (bytes.size() > 1 && bytes[0] == std::byte{'P'} && bytes[1] == std::byte{'K'});
  return zip ? mutate_zip(bytes, random) : mutate_model(bytes, random);
}

Blob mutate_two(const Blob& bytes, Random& random) {
  const auto both = two_of(bytes);
  if (!both || one_in(random, 16)) return mutate_bytes(bytes);
  Blob first = blob_of(both->first);
  Blob second = blob_of(both->second);
  if (one_in(random, 2)) {
    first = mutate_one(first, random);
  } else {
    second = one_in(random, 2) ? mutate_bytes(second) : mutate_model(second, random);
  }
  second.resize(std::min<std::size_t>(second.size(), 0xffff));
  const std::size_t length = second.size();
  first.insert(first.end(), second.begin(), second.end());
  first.push_back(static_cast<std::byte>(length & 0xffU));
  first.push_back(static_cast<std::byte>(length >> 8U));
  return first;
}

/// Copies the result to libFuzzer's buffer; 0 if it does not fit.
std::size_t put_back(const Blob& bytes, std::uint8_t* data, std::size_t max_size) {
  if (bytes.empty() || bytes.size() > max_size) return 0;
  std::ranges::transform(bytes, data, [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return bytes.size();
}

}  // namespace

Blob mutate_bytes(Blob bytes) {
  constexpr std::size_t growth = 64;
  const std::size_t size = bytes.size();
  bytes.resize(size + growth);
  auto* const data = reinterpret_cast<std::uint8_t*>(bytes.data());
  bytes.resize(LLVMFuzzerMutate(data, size, bytes.size()));
  return bytes;
}

std::uint64_t odd_number(Random& random, std::uint64_t value) {
  static constexpr std::uint64_t odd[] = {// small ones, and those around sizes that rules name
                                          0, 1, 2, 3, 4, 7, 8, 16, 63, 64, 65, 127, 128, 1023, 1024, 4096,
                                          // the largest of their widths
                                          0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe,
                                          0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
                                          0xffffffffffffffff};
  switch (below(random, 4)) {
    case 0: return value + 1;
    case 1: return value - 1;
    case 2: return value ^ (std::uint64_t{1} << below(random, 64));
    default: return pick(random, odd);
  }
}

}  // namespace onnxar::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  using namespace onnxar::fuzz;  // NOLINT(google-build-using-namespace)
  Random random(seed);
  const Blob bytes = blob_of(std::as_bytes(std::span(data, size)));
  const std::size_t mutated = put_back(is_two ? mutate_two(bytes, random) : mutate_one(bytes, random), data, max_size);
  return mutated != 0 ? mutated : LLVMFuzzerMutate(data, size, max_size);
}

std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1, const std::uint8_t* data2,
                                      std::size_t size2, std::uint8_t* out, std::size_t max_size, unsigned seed) {
  using namespace onnxar::fuzz;  // NOLINT(google-build-using-namespace)
  Random random(seed);
  const Blob one = blob_of(std::as_bytes(std::span(data1, size1)));
  const Blob other = blob_of(std::as_bytes(std::span(data2, size2)));
  const auto joined = [&] {
    if (!is_zip && !is_two) return cross_models(one, other, random);
    Blob all = one;  // zip records of both: the mutator moves them later
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(below(random, all.size() + 1)), other.begin(), other.end());
    return all;
  };
  return put_back(joined(), out, max_size);
}
