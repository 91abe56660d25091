// Recognises files that are neither archives nor models, so that errors can say what to do with them.
#pragma once

#include "archive/archive_file.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Returns what the file is and which verb accepts it, if its first bytes identify it; Hint::none otherwise. Recognises
/// plain models, files of weights (safetensors, NumPy, GGUF), and some other kinds. Cost: O(1), for a ModelProto
/// O(fields).
Advice advice_on_kind(Bytes file);

/// Adds advice_on_kind to an error, unless the error has advice. If the kind is unknown and the file lacks the end of a
/// zip, advises to fetch the file or make it again.
Error with_kind(const Error& error, Bytes file);

/// Refuses bytes that are not a model. Adds advice_on_kind to the error, which otherwise would only name the first
/// wrong byte. Does nothing for bytes of unknown kind. Throws wire.*, and onnx.model.invalid if the message has no
/// graph.
void refuse_other_kind(Bytes file);

/// True if the file is a Git LFS pointer, a placeholder for a file that was not fetched.
bool is_lfs_pointer(Bytes file) noexcept;

/// True if the file begins as safetensors: with the length of a JSON object, and the object.
bool looks_like_safetensors(Bytes file) noexcept;

/// True if the bytes are a model in text format instead of a serialised one: after white space and comments they begin
/// with the name of a field and its value, and the next 256 bytes contain no control character. Reads only these bytes
/// and the comments before them.
bool looks_like_text(Bytes bytes) noexcept;

// Decides by the error of a file that is not an archive if it may be a foreign zip.

/// True if a name breaks a rule that only writers of archives obey. `pack` and `repack` can rename such an entry.
bool is_portable_name_fault(Code code) noexcept;

/// True if zip files that zip tools write usually have this fault. Damaged files have other faults.
bool is_foreign_fault(Code code) noexcept;

/// True if a file with this fault may be a foreign zip: the fault concerns its form as a zip, or the position of the
/// model. zip::ForeignDirectory then decides if the file is read.
bool may_be_foreign_zip(Code code) noexcept;

// Distinguishes zip files of other programs, and files of other kinds, from broken archives.

/// Adds a hint if zip tools usually cause this fault. The hint names the verb that makes an archive of the file.
/// Examines ArchiveFile::front.
Error with_foreign_hint(const Error& error, const ArchiveFile& file);

}  // namespace onnxar
