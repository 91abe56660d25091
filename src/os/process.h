// The running process.
#pragma once

#include <cstdint>

namespace onnxar::os {

/// Waits. May be called by a signal handler.
void pause(std::uint32_t milliseconds) noexcept;

}  // namespace onnxar::os
