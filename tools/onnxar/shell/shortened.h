// What the command says when an input was shortened while it was read.
#pragma once

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::tool {

/// From now on, an access to a part of a mapped file that is missing ends the process: with an error that names the
/// file, as JSON if `as_document`, and exit code 3. Edits are taken back. Call it before the first thread starts.
void end_where_inputs_are_shortened(bool as_document) noexcept;

/// The same error for bytes that the system could not read.
Error shortened(Bytes bytes);

}  // namespace onnxar::tool
