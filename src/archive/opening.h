// Opens files that another process may be editing, locks them, and identifies errors that an edit caused.
#pragma once

#include <filesystem>
#include <memory>

#include "base/mapped_file.h"
#include "base/open_file.h"
#include "base/output_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar {

/// Opens the archive at `path`, as Archive::open does.
Archive open_path(const std::filesystem::path& path, const OpenOptions& options);

/// Opens the archive in an open file, as Archive::open does. `mapping` is the mapping of the whole file, or null to map
/// it now. The archive has that mapping, unless the file has another size by now or must be read under a lock.
Archive open_archive(os::Handle file, const std::shared_ptr<const base::MappedFile>& mapping,
                     const std::filesystem::path& path, const OpenOptions& options);

/// Opens the archive in a part of an open file. `path` is used in messages only. Throws what Archive::open throws.
Archive open_range(os::Handle file, const base::FilePart& part, const OpenOptions& options,
                   const std::filesystem::path& path = {});

/// Maps and opens an archive whose file is open and locked, so that it does not change. Throws what Archive::open
/// throws, and archive.torn after an interrupted edit: a local header follows a complete state, and the file does not
/// end with an end record.
Archive open_locked(os::Handle file, const std::filesystem::path& path, const OpenOptions& options);

/// Proves the local headers of all entries, for callers that use all entries but read no data. Reads each header by a
/// system call, which is much faster than faulting in a page of the mapping for it. Does not report faults: the first
/// use of an entry reports them.
void read_local_headers(const Archive& archive);

/// Returns `error`. If the fault is in the end of `file` and a prefix of it is a complete state of an archive, adds the
/// hint to `recover`; after an interrupted edit the code then is archive.torn (X9).
Error with_recover_hint(const Error& error, Bytes file, const OpenOptions& options = {});

/// Opens the file for writing, takes the editors' exclusive lock, and checks that the path still names the locked file
/// (X5). Throws archive.busy if the lock is not free within a second, and io.*.
os::File lock_for_editing(const std::filesystem::path& path);

/// Opens the file for reading and takes a shared lock, which excludes edits while one is planned. Checks that the path
/// still names the locked file. Returns the file without a lock if the file system does not support locks. Throws
/// archive.busy if the lock is not free within a second, and io.*.
os::File lock_for_planning(const std::filesystem::path& path);

/// Takes the lock of a tool whose output may replace its input (base::lock_for_replacing). The tool takes it before it
/// reads the input (X8), so that no edit in between is lost. Returns an invalid file if there is nothing to replace.
/// Throws what base::lock_for_replacing throws.
os::File lock_output(const std::filesystem::path& path, const OutputOptions& options);

// Detects files that change while they are read.
//
// Readers do not lock files, so an edit, an undo or another program may change a file while it is read. An error of the
// format may then be a consequence of the change, and reading the file again helps.

/// Completes an error at the first use of an entry: adds the path, or returns io.changed if the file changed since it
/// was opened.
Error with_archive(const Error& error, const Archive& archive);
/// Returns the result of `action`, which uses an entry, and completes its errors with `with_archive`.
template <typename Action>
auto errors_with_archive(const Archive& archive, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw with_archive(error, archive);
  }
}

/// True if the file of an archive changed after it was opened, except by growing. The bytes that were read may then
/// belong to two states. False for bytes in memory. Reads the directory again, with system calls instead of the
/// mapping.
bool is_changed(const Archive& archive);

using base::changed_while_read;

/// Throws io.changed if the file was changed, except by growing. Called after reading found no fault. Ignores that a
/// different file may have taken its name.
void expect_not_cut(const Archive& archive);

/// Returns `error`, or archive.busy if it is an error of the format and another process holds the editors' lock.
Error with_edit(const Error& error, const std::filesystem::path& path);

/// Returns `error`, or io.changed if it is an error of the format and the archive was changed.
Error with_change(const Error& error, const Archive& archive);
/// Returns io.changed for an error in the model, which is read from the mapping, if the file was changed in any way. An
/// undo and a second edit can restore the same directory; then only the file's times show that the model's bytes were
/// different.
Error with_model_change(const Error& error, const Archive& archive);

// Converts OutputOptions to the options of output files.

inline base::Existing existing_of(const OutputOptions& options) {
  return options.overwrite ? base::Existing::replace : base::Existing::refuse;
}
inline base::Sync sync_of(const OutputOptions& options) { return options.sync ? base::Sync::full : base::Sync::none; }

}  // namespace onnxar
