// A folder for the files of targets.
#pragma once

#include <unistd.h>

#include <cstdlib>

#include "support/temp_dir.h"

namespace onnxar::fuzz {

/// The folder, which lives as long as the process. It is in memory if the system supports that.
inline const testing::TempDir& scratch() {
  static const testing::TempDir folder = [] {
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
    return testing::TempDir();
  }();
  return folder;
}

}  // namespace onnxar::fuzz
