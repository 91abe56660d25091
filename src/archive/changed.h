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

/// The same error; or archive.busy, if it is one of the format and another process holds the lock of editors.
Error told_from_an_edit(const Error& error, const std::filesystem::path& path);

/// The same error; or io.changed, if it is one of the format and the archive was changed.
Error told_apart(const Error& error, const Archive& archive);
/// The same for the model, which is read from the mapping: also if the file was edited at all. An edit may have put the
/// same directory back, so that nothing else shows what was there when the model was read.
Error told_apart_in_model(const Error& error, const Archive& archive);
/// The same for a mapped file of any format.
Error told_apart(const Error& error, const base::MappedFile& file, const std::filesystem::path& path);

}  // namespace onnxar
