// Parses protobuf's text format.
#pragma once

#include "onnxar/options.h"

namespace onnxar {

/// Returns `options` with a parser for text, unless they have one.
LoadOptions with_text_parser(const LoadOptions& options);

}  // namespace onnxar
