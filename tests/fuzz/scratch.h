// A folder for the files of targets that need some.
#pragma once

#include <unistd.h>

#include <cstdlib>

#include "support/temp_dir.h"

namespace onnxar::fuzz {

/// One for the life of the process; in memory where the system has that.
inline const testing::TempDir& scratch() {
  static const testing::TempDir folder = [] {
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
    return testing::TempDir();
  }();
  return folder;
}

}  // namespace onnxar::fuzz
