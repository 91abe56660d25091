// What each graph of an archive has, as text and as JSON.
#pragma once

#include <string>

#include "archive/front_end.h"
#include "shell/json.h"

namespace onnxar {

ONNXAR_JSON_OF(GraphTotals, name, parameters, model_bytes, weight_bytes, shared_bytes);

}  // namespace onnxar

namespace onnxar::tool {

/// Returns `1,234 parameters, weights 12.0 kB (4.0 kB of them shared), model 1.2 kB`.
std::string numbers_of(const GraphTotals& graph);

/// Returns `unet/model: ` and its numbers. Control characters are escaped.
std::string text_of(const GraphTotals& graph);

}  // namespace onnxar::tool
