// Detects files that change while they are read.
//
// Readers do not lock files, so an edit, an undo or another program may change a file while it is read. An error of the
// format may then be a consequence of the change, and reading the file again helps.
#pragma once

#include <filesystem>

#include "base/mapped_file.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {

// Completes the errors of using an open archive.

/// Completes an error at the first use of an entry: adds the path, and tells whether the file changed since it was
/// opened.
Error with_archive(const Error& error, const Archive& archive);

/// Whether the file of an archive changed after it was opened, other than by growing. The bytes that were read may then
/// belong to two states. False for bytes in memory. Reads the directory again, by system calls and not from the
/// mapping.
bool is_changed(const Archive& archive);

/// Returns the error io.changed.
Error changed_while_read(const std::filesystem::path& path);

/// Checks, after reading found no fault, that the file was not changed except by growing. A different file that took
/// its name does not count. Errors: io.changed.
void expect_not_cut(const Archive& archive);

/// Returns the error archive.busy.
Error being_edited(const std::filesystem::path& path);

/// Returns `error`, or archive.busy if it is an error of the format and another process holds the editors' lock.
Error with_edit(const Error& error, const std::filesystem::path& path);

/// Returns `error`, or io.changed if it is an error of the format and the archive was changed.
Error with_change(const Error& error, const Archive& archive);
/// Returns io.changed for an error in the model, which is read from the mapping, if the file was changed in any way. An
/// undo and a second edit can restore the same directory, and then only the file's times show that the model's bytes
/// were different.
Error with_model_change(const Error& error, const Archive& archive);
/// Returns `error`, or io.changed if it is an error of the format and the mapped file, of any format, was changed.
Error with_change(const Error& error, const base::MappedFile& file, const std::filesystem::path& path);

}  // namespace onnxar
