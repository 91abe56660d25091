// Files that change while they are read.
//
// Readers take no lock, so an edit, an undo or another program may change the file under them. What is wrong then is
// not the file: reading it again helps.
#pragma once

#include <filesystem>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Whether the file of an archive has not only grown since it was opened: what was read of it may be of two states.
/// False for bytes in memory. Reads the directory once more, with calls and not from the mapping.
bool is_changed(const Archive& archive);

/// io.changed
Error changed_while_read(const std::filesystem::path& path);

/// The same error; or io.changed, if it is one of the format and the archive was changed.
Error told_apart(const Error& error, const Archive& archive);
/// The same for a file that is mapped, of whatever format.
Error told_apart(const Error& error, Bytes file, const std::filesystem::path& path);

}  // namespace onnxar
