// Locks on files that another process may be editing.
#pragma once

#include <filesystem>
#include <system_error>

#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar::base {

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
