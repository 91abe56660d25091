// Opens, examines and reads files. Wraps the calls of os/ and throws errors of this library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar::base {

/// Opens an existing file. Throws io.not_found, io.permission and io.failed, and io.not_a_file for a folder opened for
/// writing.
os::File open_file(const std::filesystem::path& path, os::Access access);

/// Returns a second handle of the same open file. Both share its locks. Throws io.failed.
os::File duplicate(os::Handle file);

/// Describes a part of a file. Without a length it extends to the end.
struct FilePart {
  std::uint64_t offset = 0;  ///< bytes
  std::optional<std::uint64_t> length = {};
};

/// Holds the status of a regular file, and the length of the requested part of it.
struct ExaminedFile {
  os::FileStatus status;
  std::uint64_t length = 0;

  /// Returns the length for a caller that maps the part or reads it into memory. Throws io.address_space if it is
  /// longer than memory can be.
  [[nodiscard]] std::size_t length_in_memory(const std::filesystem::path& path) const;
};

/// Checks that the handle, which the caller keeps, is of a regular file, and that the file has this part. `path` is for
/// messages. Throws io.not_a_file for a folder or a pipe, usage.argument if the file does not have the part, and
/// io.failed.
ExaminedFile examine(os::Handle file, const FilePart& part, const std::filesystem::path& path);

/// Fills `target` with the bytes from `offset` of the file on. Throws io.failed if the file cannot be read, and
/// io.changed if it ends too early.
void read_fully(os::Handle file, std::span<std::byte> target, std::uint64_t offset, const std::filesystem::path& path);

/// Returns the error for a failed system call. The reason determines the code; `doing` names the operation ("cannot
/// open").
Error system_error(const std::error_code& failed, std::string_view doing, const std::filesystem::path& path);

/// Returns the error io.changed for a file that was changed while it was read.
Error changed_while_read(const std::filesystem::path& path);

}  // namespace onnxar::base
