// Converts a listed entry to JSON.
#pragma once

#include "onnxar/content.h"
#include "shell/json.h"

namespace onnxar {

ONNXAR_JSON_OF(ListedEntry, name, offset, size, crc32, alignment, kind, tensors, graphs);

}  // namespace onnxar
