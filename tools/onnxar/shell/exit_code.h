// The exit codes of the command.
#pragma once

#include <array>
#include <string_view>

#include "onnxar/error.h"

namespace onnxar::tool {

namespace exit_code {
inline constexpr int done = 0;
inline constexpr int found = 1;
inline constexpr int usage = 2;
inline constexpr int io = 3;
inline constexpr int format = 4;
/// Explains each exit code, in the words of `--help` and the manual page.
inline constexpr std::array<std::string_view, 5> meanings = {
    "done: clean, aligned, equal",
    "`check` found errors, `repack -c` entries that are not aligned, `diff` a difference",
    "wrong arguments, or the output exists", "a file is missing or busy, permission denied, the disk is full",
    "corrupt or unsupported input"};
}  // namespace exit_code

/// Returns the exit code after an error.
inline int exit_code_of(const Error& error) {
  switch (kind(error.code())) {
    case Kind::usage: return exit_code::usage;
    case Kind::io: return exit_code::io;
    // Remarks are never thrown; the compiler wants all kinds.
    case Kind::format:
    case Kind::remark: return exit_code::format;
  }
  return exit_code::format;
}

}  // namespace onnxar::tool
