// Opens, examines, reads and locks files. Wraps the calls of os/ and throws errors of this library.
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

/// Returns the status of the file that a path leads to; nothing if it does not exist. Throws io.permission or io.failed
/// if it cannot be examined, so that a fault of the disk is not mistaken for a missing file.
std::optional<os::FileStatus> status_if_there(const std::filesystem::path& path);
/// True if both paths lead to the same file or folder. False if either does not exist. Throws what `status_if_there`
/// throws.
bool are_same(const std::filesystem::path& one, const std::filesystem::path& other);
/// True if the path leads to this open file. Throws what `status_if_there` throws.
bool leads_to(const std::filesystem::path& path, os::Handle file);
/// True if the path leads to a folder. Throws what `status_if_there` throws.
bool is_folder(const std::filesystem::path& path);

/// Returns the path without links, `.` and `..`. Throws the io.* errors of opening the file.
std::filesystem::path real_path(const std::filesystem::path& path);

// Examines paths, and throws errors of this library.

/// The number of links after which a path counts as circular, as in Linux (MAXSYMLINKS).
inline constexpr int most_links = 40;

/// Returns the folder that contains a file; `.` for a name without a folder, since the empty path is not a folder.
inline std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// Returns the path of the folder that a caller names as `folder` or `folder/`, without the slash.
std::filesystem::path named_folder(const std::filesystem::path& folder);
/// Refuses an output folder if something else is at `path`, even a link that leads nowhere. Throws io.not_a_file.
void expect_no_file(const std::filesystem::path& path);
/// Returns the status of the path itself, not of the target of a link; its type is `not_found` if nothing has this
/// path. Throws io.*, for example if a folder of the path may not be searched.
std::filesystem::file_status link_status(const std::filesystem::path& path);
/// Returns the absolute path, which need not exist. Throws io.* if the current folder was removed.
std::filesystem::path absolute_path(const std::filesystem::path& path);
/// Returns the system's folder for temporary files. Throws io.* if TMPDIR does not name a folder.
std::filesystem::path temporary_folder();

/// Returns the error for a failed system call. The reason determines the code; `doing` names the operation ("cannot
/// open").
Error system_error(const std::error_code& failed, std::string_view doing, const std::filesystem::path& path);

/// Returns the error io.changed for a file that was changed while it was read.
Error changed_while_read(const std::filesystem::path& path);

// Locks files that another process may be editing.

/// Returns the error archive.busy.
Error being_edited(const std::filesystem::path& path);

/// Takes the lock. Waits for up to a second, because readers that meet an edit hold a shared lock for a moment; then
/// throws archive.busy.
os::Locking lock_with_patience(os::Handle file, os::Lock lock, const std::filesystem::path& path,
                               std::error_code& failed);

/// Takes a shared lock on the file at `path`, which will be replaced (X8). The lock is held until the output has the
/// name, and excludes edits, which would be lost. Every OutputFile takes one; a caller whose input may be that file
/// takes another before it reads the input. Does not exclude readers, because they take shared locks at most. Returns
/// an invalid file if nothing can be locked: `path` is not a regular file that may be read, or the file system does not
/// support locks. Throws archive.busy if the lock is not free within a second, and io.*.
os::File lock_for_replacing(const std::filesystem::path& path);

/// Replaces `lock` by a lock on the file that is now at the path, if another process replaced the locked file. Called
/// just before the rename. Throws what `lock_for_replacing` throws.
void renew_lock(os::File& lock, const std::filesystem::path& path);

}  // namespace onnxar::base
