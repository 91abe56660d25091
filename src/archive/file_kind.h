// Tells what a file is that was taken for an archive or a model, so that errors can say what to do with it.
#pragma once

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Returns what the file is, and which verb takes it, if its first bytes tell; Hint::none otherwise. Knows plain
/// models, files of weights (safetensors, NumPy, GGUF), and some that hold neither. Cost: O(1), for a ModelProto
/// O(fields).
Advice advice_on_kind(Bytes file);

/// Adds advice_on_kind to an error, unless the error has advice.
Error with_kind(const Error& error, Bytes file);

/// Refuses bytes that are not a protobuf message, and adds advice_on_kind to the error, which alone would only name the
/// first byte that is wrong. Does nothing for bytes of unknown kind. Errors: wire.*.
void refuse_other_kind(Bytes file);

}  // namespace onnxar
