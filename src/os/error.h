// The reasons why the operating system refuses a call.
#pragma once

#include <cstdint>
#include <system_error>

namespace onnxar::os {

/// The reasons that callers distinguish. Functions of this room report failures as std::error_code, which holds the
/// system's own number for messages. This is the meaning of that number, the same on every system.
enum class Reason : std::uint8_t {
  none,
  not_found,
  exists,
  permission,
  disk_full,
  is_folder,
  /// A path leaves its folder, or an operation leaves its volume.
  outside,
  too_many_links,
  /// No file of this system can have the name: it is too long, or on Windows NUL, `a:b`.
  bad_name,
  /// The file cannot be cut or replaced while a process has it mapped. Never on POSIX.
  mapped,
  too_large,
  /// The bytes to be written cannot be read: they are mapped from a file that was shortened.
  unreadable_bytes,
  /// The system or the file system does not have this function.
  unsupported,
  other,
};

/// Returns the reason in `failed`, which may also come from std::filesystem.
Reason reason_of(const std::error_code& failed) noexcept;

}  // namespace onnxar::os
