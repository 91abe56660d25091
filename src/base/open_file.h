// Opens, examines, reads and locks files: the calls of os/ with errors of this library.
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

/// Opens an existing file. Errors: io.not_found, io.permission, io.not_a_file (a folder opened for writing), io.failed.
os::File open_file(const std::filesystem::path& path, os::Access access);

/// Returns a second handle of the same opening. Both share its locks. Errors: io.failed.
os::File duplicate(os::Handle file);

/// A part of a file. Without a length it extends to the end.
struct FilePart {
  std::uint64_t offset = 0;  ///< bytes
  std::optional<std::uint64_t> length = {};
};

/// The status of a regular file, and the length of the requested part of it.
struct ExaminedFile {
  os::FileStatus status;
  std::uint64_t length = 0;

  /// For a caller that maps or reads in the part. Errors: io.address_space (it is longer than memory can be).
  [[nodiscard]] std::size_t length_in_memory(const std::filesystem::path& path) const;
};

/// Checks that the handle, which the caller keeps, is of a regular file, and that the file has this part. `path` is for
/// messages. Errors: io.not_a_file (a folder, a pipe), usage.argument (the part leaves the file), io.failed.
ExaminedFile examine(os::Handle file, const FilePart& part, const std::filesystem::path& path);

/// Fills `target` from `offset` of the file on. Errors: io.failed (the file cannot be read); io.changed (it ends
/// before).
void read_fully(os::Handle file, std::span<std::byte> target, std::uint64_t offset, const std::filesystem::path& path);

/// The status of the file that a path leads to; empty if nothing is there. Errors: io.permission, io.failed (it cannot
/// be examined), so that a fault of the disk is not taken for a missing file.
std::optional<os::FileStatus> status_if_there(const std::filesystem::path& path);
/// Whether both paths lead to one file or folder. False if nothing is at either. Errors: as above.
bool are_same(const std::filesystem::path& one, const std::filesystem::path& other);
/// Whether the path leads to this open file. Errors: as above.
bool leads_to(const std::filesystem::path& path, os::Handle file);
/// Whether the path leads to a folder. Errors: as above.
bool is_folder(const std::filesystem::path& path);

/// The path without links, `.` and `..`. Errors: io.*, as for opening the file.
std::filesystem::path real_path(const std::filesystem::path& path);

// Paths, with errors of this library.

/// The number of links after which a path is taken for a circle, as by Linux (MAXSYMLINKS).
inline constexpr int most_links = 40;

/// The folder that contains a file; `.` for a name without a folder, since the empty path is not a folder.
inline std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// The status of the path itself, not of the target of a link; its type is `not_found` if nothing has this path.
/// Errors: io.*, for example if a folder of the path may not be searched.
std::filesystem::file_status link_status(const std::filesystem::path& path);
/// The path from the root. It need not exist. Errors: io.* (the current folder was removed).
std::filesystem::path absolute_path(const std::filesystem::path& path);
/// The system's folder for temporary files. Errors: io.* (TMPDIR does not name a folder).
std::filesystem::path temporary_folder();

/// Makes the error for a failed system call. The reason determines the code; `doing` names the operation ("cannot
/// open").
Error system_error(const std::error_code& failed, std::string_view doing, const std::filesystem::path& path);

/// A file was changed while it was read: io.changed.
Error changed_while_read(const std::filesystem::path& path);

// Locks on files that another process may be editing.

/// Returns the error archive.busy.
Error being_edited(const std::filesystem::path& path);

/// Takes the lock, if need be after waiting for a second: readers that meet an edit hold a shared lock for a moment.
/// Errors: archive.busy after a second.
os::Locking lock_with_patience(os::Handle file, os::Lock lock, const std::filesystem::path& path,
                               std::error_code& failed);

/// Takes a shared lock on the file at `path`, which is going to be replaced (X8). It is held until the output has the
/// name: it excludes edits, which would be lost. Every OutputFile does so; a caller whose input may be that file takes
/// one more before it reads the input. Readers are not excluded, because they take shared locks at most. Returns an
/// invalid file if nothing can be locked: `path` is not a regular file that may be read, or the file system does not
/// support locks. Errors: archive.busy after a second; io.*.
os::File lock_for_replacing(const std::filesystem::path& path);

/// For the moment before the rename: if the path no longer leads to the file that `lock` is of, because another process
/// replaced it, `lock` becomes one of the file that is there now. Errors: as above.
void renew_lock(os::File& lock, const std::filesystem::path& path);

}  // namespace onnxar::base
