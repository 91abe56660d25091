// Whether an emulator runs this program. `./dev platforms` says so.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace onnxar::testing {

/// qemu-user translates system calls, and does not know all of them.
inline bool runs_under_qemu() {
  const char* emulator = std::getenv("ONNXAR_EMULATED");
  return emulator != nullptr && std::string_view(emulator) == "qemu-user";
}

}  // namespace onnxar::testing

// At the start of a test. It skips what qemu-user does not do; `why` says what that is.
#define ONNXAR_NATIVELY(why) \
  if (::onnxar::testing::runs_under_qemu()) GTEST_SKIP() << "qemu-user does not " why
