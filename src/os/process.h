// The running process.
#pragma once

#include <cstdint>

namespace onnxar::os {

/// Waits. Safe in signal handlers.
void pause(std::uint32_t milliseconds) noexcept;

}  // namespace onnxar::os
