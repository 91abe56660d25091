// Opens a file for a test, which fails if the handle and the error contradict each other.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <system_error>

#include "os/file.h"

namespace onnxar::testing {

inline os::File file_at(const std::filesystem::path& path, os::Access access = os::Access::read) {
  std::error_code failed;
  os::File file = os::open(path, access, failed);
  EXPECT_EQ(file.valid(), !failed) << failed.message();
  return file;
}

}  // namespace onnxar::testing
