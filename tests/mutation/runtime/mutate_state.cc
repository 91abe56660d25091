// Part of the library in the build for mutation testing only.

#include <sys/mman.h>

#include <cstdlib>

#include "mutate.h"

namespace onnxar::mutate {

constinit int selected = -1;
constinit unsigned char* seen = nullptr;

namespace {

// Runs before the initialisers of all other units. The memory is shared, so that what forked children execute counts.
[[gnu::constructor(101)]] void read_environment() {
  if (const char* number = std::getenv("ONNXAR_MUTANT")) selected = std::atoi(number);
  if (std::getenv("ONNXAR_MUTATION_RECORD") == nullptr) return;
  void* memory = mmap(nullptr, ONNXAR_MUTATION_SITES + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  seen = static_cast<unsigned char*>(memory);
}

}  // namespace
}  // namespace onnxar::mutate
