#include "os/processor.h"

#if defined(__aarch64__)

#include <windows.h>

namespace onnxar::os {

bool has_pmull() noexcept { return ::IsProcessorFeaturePresent(PF_ARM_V8_CRYPTO_INSTRUCTIONS_AVAILABLE) != 0; }

}  // namespace onnxar::os

#endif
