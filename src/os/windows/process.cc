#include "os/process.h"

#include "os/windows/native.h"

namespace onnxar::os {

void pause(std::uint32_t milliseconds) noexcept { ::Sleep(milliseconds); }

}  // namespace onnxar::os
