// The functions that fuzzing engines call, and the settings of the sanitizers.
#include <cstdint>

#include "fuzz/fuzz.h"
#include "fuzz/scratch.h"

// NOLINTBEGIN(readability-identifier-naming): names of libFuzzer and of the sanitizers
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  onnxar::fuzz::run(std::as_bytes(std::span(data, size)));
  onnxar::fuzz::forget_files();
  return 0;
}

/// Settings that ASAN_OPTIONS replaces. Without them, most of the time goes into a record of each allocation's callers,
/// and into memory that is not in any cache: freed blocks are used again only after 256 MiB of others.
/// `ASAN_OPTIONS=malloc_context_size=30` shows the callers when an input is run again.
extern "C" const char* __asan_default_options() {
  return "malloc_context_size=0:quarantine_size_mb=8:thread_local_quarantine_size_kb=256";
}
// NOLINTEND(readability-identifier-naming)
