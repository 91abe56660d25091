// Runs other programs.
#pragma once

#include <string>
#include <vector>

namespace onnxar::testing {

/// Runs a program with arguments and waits for it. Returns its exit code; -1 if it could not be run, or was killed.
int run_program(const std::vector<std::string>& words);

}  // namespace onnxar::testing
