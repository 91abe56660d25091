// Locks files that another process may be editing.
#pragma once

#include <filesystem>
#include <system_error>

#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar::base {

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
