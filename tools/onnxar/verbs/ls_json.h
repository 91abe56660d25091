// Converts a listed entry to JSON.
#pragma once

#include "onnxar/listing.h"
#include "shell/json.h"

namespace onnxar {

ONNXAR_JSON_OF(ListedEntry, name, offset, size, crc32, alignment, kind, tensors, graphs);

}  // namespace onnxar
