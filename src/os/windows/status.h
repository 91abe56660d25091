// The status of open files.
#pragma once

#include "os/file.h"
#include "os/windows/native.h"

namespace onnxar::os {

FileStatus file_status(Handle file, std::error_code& failed) noexcept;

}  // namespace onnxar::os
