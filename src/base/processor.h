// What the processor can do. Asking takes microseconds in a virtual machine: callers keep the answer.
#pragma once

namespace onnxar::base {

/// Whether the processor multiplies 64-bit numbers without carries, which folds CRCs. Asked on x86-64 and ARM alone.
bool has_carryless_multiplication() noexcept;

#if defined(__x86_64__)
/// Whether it does so with vectors of 256 bits.
bool has_carryless_multiplication_of_256() noexcept;
/// Whether the processor has vectors of 512 bits.
bool has_wide_vectors() noexcept;
#endif

}  // namespace onnxar::base
