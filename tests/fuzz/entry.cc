// The functions that fuzzing engines call, for the target of CMake's choice, and the settings of the sanitizers.
#include <cstdint>

#include "fuzz/fuzz.h"
#include "fuzz/scratch.h"

// NOLINTBEGIN(readability-identifier-naming): names of libFuzzer and of the sanitizers
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  onnxar::fuzz::ONNXAR_FUZZ_TARGET::run(std::as_bytes(std::span(data, size)));
  onnxar::fuzz::forget_files();
  return 0;
}

/// Settings that ASAN_OPTIONS replaces. By default, half of the time goes into a record of each allocation's callers,
/// into memory that is in no cache, because freed blocks are used again only after 256 MiB of others, and into stack
/// frames on the heap. The corpus is replayed in the build `asan`, which looks for uses of a stack frame after its
/// function returned. `ASAN_OPTIONS=malloc_context_size=30` shows callers when an input is run again.
extern "C" const char* __asan_default_options() {
  return "malloc_context_size=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64:"
         "detect_stack_use_after_return=0";
}
// NOLINTEND(readability-identifier-naming)
