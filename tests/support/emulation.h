// Whether an emulator runs this program. `./dev platforms` says so.
#pragma once

#include <cstdlib>
#include <string_view>

namespace onnxar::testing {

/// qemu-user translates system calls, and does not know all of them.
inline bool runs_under_qemu() {
  const char* emulator = std::getenv("ONNXAR_EMULATED");
  return emulator != nullptr && std::string_view(emulator) == "qemu-user";
}

}  // namespace onnxar::testing
