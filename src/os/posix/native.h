// Converts between descriptors and handles, struct stat and FileStatus, errno and std::error_code.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "os/file.h"

namespace onnxar::os {

// Offsets of files have 64 bits, on 32-bit systems, too (cmake/OnnxarCompile.cmake).
static_assert(sizeof(off_t) == sizeof(std::uint64_t));

inline int descriptor_of(Handle handle) noexcept { return static_cast<int>(handle); }

inline std::error_code error_of(int number) noexcept { return {number, std::system_category()}; }

/// Returns the outcome of a system call that has just returned: errno unless it is `done`.
inline std::error_code outcome(bool done) noexcept { return done ? std::error_code() : error_of(errno); }

/// Calls again until no signal interrupts it. For calls that a signal may interrupt and that have no effect then: local
/// file systems rarely return EINTR, network file systems and FUSE do.
template <typename Call>
auto uninterrupted(const Call& call) noexcept {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

/// Takes ownership of the descriptor that a system call has just returned; -1 sets `failed` from errno.
inline File file_of(int descriptor, std::error_code& failed) noexcept {
  failed = outcome(descriptor >= 0);
  return File(handle_of(descriptor));
}

/// Opens a file by `call`, which returns a descriptor or -1.
template <typename Call>
File opened_by(const Call& call, std::error_code& failed) noexcept {
  return file_of(static_cast<int>(uninterrupted(call)), failed);
}

FileStatus file_status(const struct stat& status, std::error_code& failed) noexcept;

/// Follows the rule of a kernel with fs.protected_symlinks set: in a sticky, world-writable folder, only links that
/// `user` or the folder's owner made are followed. A different user could have placed one there as a trap.
bool is_trusted_link(std::uint32_t folder_mode, std::uint32_t folder_owner, std::uint32_t link_owner,
                     std::uint32_t user) noexcept;

}  // namespace onnxar::os
