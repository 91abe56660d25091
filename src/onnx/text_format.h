// Models in protobuf's text format, as far as core looks at them.
#pragma once

#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// Whether the bytes are a model as text and none on the wire: behind white space and comments a field's name begins
/// them, with its value behind it, and no control character stands nearby. Looks at some hundred bytes, or at all of
/// the comments that come first.
bool looks_like_text(Bytes bytes) noexcept;

}  // namespace onnxar::onnx
