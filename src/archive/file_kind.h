// Tells what a file is that was taken for an archive or a model, so that errors can say what to do with it.
#pragma once

#include "base/memory.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Returns what the file is, and which verb takes it, if its first bytes tell; Hint::none otherwise. Knows plain
/// models, files of weights (safetensors, NumPy, GGUF), and some that hold neither. Cost: O(1), for a ModelProto
/// O(fields).
Advice advice_on_kind(Bytes file);

/// Adds advice_on_kind to an error, unless the error has advice. A file of unknown kind without the end of a zip is
/// to be fetched or made again.
Error with_kind(const Error& error, Bytes file);

/// Refuses bytes that are not a model, and adds advice_on_kind to the error, which alone would only name the first byte
/// that is wrong. Does nothing for bytes of unknown kind. Errors: wire.*; onnx.model.invalid (a message without a
/// graph).
void refuse_other_kind(Bytes file);

/// True if the file is a pointer of Git LFS, which stands for a file that was not fetched.
bool is_lfs_pointer(Bytes file) noexcept;

/// Whether the file begins as safetensors: with the length of a JSON object, and the object.
bool looks_like_safetensors(Bytes file) noexcept;

/// Whether the bytes are a model in text format instead of a serialised one: after white space and comments they begin
/// with the name of a field and its value, and the next 256 bytes contain no control character. Reads only these bytes
/// and the comments before them.
bool looks_like_text(Bytes bytes) noexcept;

// Tells from the error of a file that is not an archive whether it may be a foreign zip.

/// Whether a name breaks a rule that only writers of archives obey. `pack` and `repack` can rename such an entry.
bool is_portable_name_fault(Code code) noexcept;

/// Whether zip files that zip tools write usually have this fault. Damaged files have other faults.
bool is_foreign_fault(Code code) noexcept;

/// Whether a file with this fault may be a foreign zip: the fault concerns its form as a zip, or the position of the
/// model. zip::ForeignDirectory then decides whether the file is read.
bool may_be_foreign_zip(Code code) noexcept;

// Tells zip files of other makers, and files of other kinds, from broken archives.

/// Adds a hint if the fault is one that zip tools usually cause: it names the verb that makes an archive of the file.
/// Of a file that is read by ranges (`ranges` is not null), looks at its first bytes only.
Error with_foreign_hint(const Error& error, Bytes file, const base::RangedMemory* ranges);

}  // namespace onnxar
