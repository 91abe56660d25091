#include "base/processor.h"

#include "os/processor.h"

#if defined(__x86_64__)

#include <cpuid.h>

// Asks the processor itself: __builtin_cpu_supports needs a library that not every compiler brings.
namespace onnxar::base {
namespace {

// Bits of the answers, as Intel's manual numbers them (volume 2, CPUID; volume 1, 13.3).
constexpr unsigned pclmulqdq = 1U << 1U;                                // leaf 1, ecx
constexpr unsigned saves_registers = 1U << 27U;                         // leaf 1, ecx: OSXSAVE
constexpr unsigned avx2 = 1U << 5U;                                     // leaf 7, ebx
constexpr unsigned avx512f = 1U << 16U;                                 // leaf 7, ebx
constexpr unsigned vpclmulqdq = 1U << 10U;                              // leaf 7, ecx
constexpr unsigned registers_of_256 = 1U << 1U | 1U << 2U;              // XCR0
constexpr unsigned registers_of_512 = registers_of_256 | 0b111U << 5U;  // XCR0

struct Registers {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

/// All zero if the processor does not know the leaf.
Registers ask(unsigned leaf) noexcept {
  Registers answer;
  ::__get_cpuid_count(leaf, 0, &answer.eax, &answer.ebx, &answer.ecx, &answer.edx);
  return answer;
}

/// Whether the system saves these registers when it switches threads. Without that, their instructions fault.
bool are_saved(unsigned registers) noexcept {
  if ((ask(1).ecx & saves_registers) == 0) return false;
  unsigned low = 0;
  unsigned high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & registers) == registers;
}

}  // namespace

bool has_carryless_multiplication() noexcept { return (ask(1).ecx & pclmulqdq) != 0; }

bool has_carryless_multiplication_of_256() noexcept {
  const Registers features = ask(7);
  return (features.ecx & vpclmulqdq) != 0 && (features.ebx & avx2) != 0 && are_saved(registers_of_256);
}

bool has_wide_vectors() noexcept { return (ask(7).ebx & avx512f) != 0 && are_saved(registers_of_512); }

}  // namespace onnxar::base

#elif defined(__aarch64__)

namespace onnxar::base {

bool has_carryless_multiplication() noexcept { return os::has_pmull(); }

}  // namespace onnxar::base

#endif
