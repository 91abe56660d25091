// Recognises models in protobuf's text format, which core cannot parse.
#pragma once

#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// Whether the bytes are a model in text format instead of a serialised one: after white space and comments they begin
/// with the name of a field and its value, and the next 256 bytes contain no control character. Reads only these bytes
/// and the comments before them.
bool looks_like_text(Bytes bytes) noexcept;

}  // namespace onnxar::onnx
