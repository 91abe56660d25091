// Converts the report of `freeze` to JSON.
#pragma once

#include "onnxar/convert.h"
#include "onnxar/model/model.h"
#include "shell/json.h"

namespace onnxar {

ONNXAR_JSON_OF(ConvertReport, tensors_outside, payloads, payload_bytes, model_bytes, side_files, side_files_left_out,
               graphs, graphs_left_out, file_bytes, model_path, data_file, remarks);
ONNXAR_JSON_OF(FreezeReport, nodes, initializers, inputs, functions, training_infos, opset_imports, filled, surplus,
               saved);

}  // namespace onnxar
