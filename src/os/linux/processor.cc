#include "os/processor.h"

#if defined(__aarch64__)

#include <asm/hwcap.h>
#include <sys/auxv.h>

namespace onnxar::os {

bool has_pmull() noexcept { return (::getauxval(AT_HWCAP) & HWCAP_PMULL) != 0; }

}  // namespace onnxar::os

#endif
