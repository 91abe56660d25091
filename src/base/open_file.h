// Files that are opened: the calls of os/ with errors of this library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar::base {

/// Opens an existing file. Errors: io.not_found, io.permission, io.not_a_file (a folder that is to be written),
/// io.failed.
os::File open_file(const std::filesystem::path& path, os::Access access);

/// Another handle of the same opening; both share its locks. Errors: io.failed.
os::File duplicate(os::Handle file);

/// A part of a file; without a length it goes to the end.
struct FilePart {
  std::uint64_t offset = 0;  ///< bytes
  std::optional<std::uint64_t> length = {};
};

/// A regular file, and the length of the part of it that was asked for.
struct ExaminedFile {
  os::FileStatus status;
  std::uint64_t length = 0;
};

/// Checks that a regular file is open under the handle, which stays the caller's, and that it has this part. `path` is
/// for messages. Errors: io.not_a_file (a folder, a pipe), usage.argument (the part leaves the file), io.failed.
ExaminedFile examine(os::Handle file, const FilePart& part, const std::filesystem::path& path);

/// Fills `target` from `offset` of the file on. Errors: io.failed (it cannot be read, or it ends before).
void read_fully(os::Handle file, std::span<std::byte> target, std::uint64_t offset, const std::filesystem::path& path);

/// These return nothing if there is no such file, or it cannot be examined.
std::optional<os::FileIdentity> identity_of(const std::filesystem::path& path) noexcept;
std::optional<os::FileIdentity> identity_of(os::Handle file) noexcept;
std::optional<os::FileStatus> status_of(const std::filesystem::path& path) noexcept;

/// The path without links, `.` and `..`. Errors: io.*, as for opening it.
std::filesystem::path real_path(const std::filesystem::path& path);

/// The error for a call that the system refused: the reason decides the code, `doing` says what was tried ("cannot
/// open").
Error system_error(const std::error_code& failed, std::string_view doing, const std::filesystem::path& path);

}  // namespace onnxar::base
