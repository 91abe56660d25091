// The function that fuzzing engines call.
#include <cstdint>

#include "fuzz/fuzz.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  onnxar::fuzz::run(std::as_bytes(std::span(data, size)));
  return 0;
}
