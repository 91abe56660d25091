// Recognises models in protobuf's text format. Core cannot parse them.
#pragma once

#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// Whether the bytes are a model in text format and not on the wire: after white space and comments they begin with the
/// name of a field and its value, and there is no control character nearby. Looks at a few hundred bytes after the
/// comments.
bool looks_like_text(Bytes bytes) noexcept;

}  // namespace onnxar::onnx
