// What the files of this folder share: descriptors and errno in the terms of the seam.
#pragma once

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "os/file.h"

namespace onnxar::os {

inline int descriptor_of(Handle handle) noexcept { return static_cast<int>(handle); }

inline std::error_code error_of(int number) noexcept { return {number, std::system_category()}; }

/// Of a call that says whether it succeeded and leaves the reason in errno.
inline std::error_code outcome(bool done) noexcept { return done ? std::error_code() : error_of(errno); }

/// The owner of a descriptor that a call returned, or -1.
inline File file_of(int descriptor, std::error_code& failed) noexcept {
  failed = outcome(descriptor >= 0);
  return File(handle_of(descriptor));
}

}  // namespace onnxar::os
