// Files that change while they are read.
//
// Readers take no lock, so an edit, an undo or another program may change a file while it is read. An error of the
// format is then not the file's fault, and reading it again helps.
#pragma once

#include <filesystem>

#include "base/mapped_file.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {

/// Whether the file of an archive has changed since it was opened in another way than by growing, so that the bytes
/// that were read may belong to two states. False for bytes in memory. Reads the directory once more, by system calls
/// and not from the mapping.
bool is_changed(const Archive& archive);

/// The error io.changed.
Error changed_while_read(const std::filesystem::path& path);

/// For use after reading found no fault. Errors: io.changed, if the file that was read, and not another one that took
/// its name, has changed in another way than by growing.
void expect_not_cut(const Archive& archive);

/// The error archive.busy.
Error being_edited(const std::filesystem::path& path);

/// `error`, or archive.busy if it is an error of the format and another process holds the lock of editors.
Error annotate_edit(const Error& error, const std::filesystem::path& path);

/// `error`, or io.changed if it is an error of the format and the archive was changed.
Error annotate_change(const Error& error, const Archive& archive);
/// For an error in the model, which is read from the mapping: io.changed if the file was edited at all. An undo and
/// another edit may have restored the same directory, and then nothing else shows that the model's bytes were others.
Error annotate_model_change(const Error& error, const Archive& archive);
/// For an error in a mapped file of any format.
Error annotate_change(const Error& error, const base::MappedFile& file, const std::filesystem::path& path);

}  // namespace onnxar
