// Detects files that change while they are read.
//
// Readers do not lock files, so an edit, an undo or another program may change a file while it is read. An error of the
// format may then be a consequence of the change, and reading the file again helps.
#pragma once

#include "onnxar/archive.h"

namespace onnxar {

/// True if the file of an archive changed after it was opened, except by growing. The bytes that were read may then
/// belong to two states. False for bytes in memory. Reads the directory again, with system calls instead of the
/// mapping.
bool is_changed(const Archive& archive);

/// Throws io.changed if the file was changed, except by growing. Called after reading found no fault. Ignores that a
/// different file may have taken its name.
void expect_not_cut(const Archive& archive);

}  // namespace onnxar
