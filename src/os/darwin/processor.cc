#include "os/processor.h"

#if defined(__aarch64__)

namespace onnxar::os {

bool has_pmull() noexcept { return true; }  // all of Apple's have it

}  // namespace onnxar::os

#endif
