// Runs commands of the shell.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace onnxar::testing {

/// Runs the command without its output. Returns its exit code, or -1 if a signal ended it.
inline int exit_code(const std::string& command) {
  const int status = std::system(("{ " + command + "; } >/dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace onnxar::testing
