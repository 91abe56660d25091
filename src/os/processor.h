// What the system tells of a processor that programs cannot ask themselves.
#pragma once

namespace onnxar::os {

#if defined(__aarch64__)
/// Whether the processor has PMULL and PMULL2 for 64-bit numbers, an optional part of ARMv8.
bool has_pmull() noexcept;
#endif

}  // namespace onnxar::os
