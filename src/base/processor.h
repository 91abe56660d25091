// What the processor can do. Asking takes microseconds in a virtual machine: callers keep the answer.
#pragma once

namespace onnxar::base {

#if defined(__x86_64__)
/// Whether the processor multiplies 64-bit numbers without carries, which folds CRCs.
bool has_carryless_multiplication() noexcept;
/// Whether it does so with vectors of 256 bits.
bool has_carryless_multiplication_of_256() noexcept;
/// Whether the processor has vectors of 512 bits.
bool has_wide_vectors() noexcept;
#endif

}  // namespace onnxar::base
