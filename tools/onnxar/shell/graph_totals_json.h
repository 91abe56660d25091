// Converts what a graph of an archive has to JSON.
#pragma once

#include "archive/front_end.h"
#include "shell/json.h"

namespace onnxar {

ONNXAR_JSON_OF(GraphTotals, name, parameters, model_bytes, weight_bytes, shared_bytes);

}  // namespace onnxar
