// Writes a loaded model as plain ONNX.
#pragma once

#include "convert/file_targets.h"
#include "convert/loaded_model.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar {

/// Writes `model` as plain ONNX; its side files and graphs are written only if the destination is a folder. Throws what
/// `unpack` throws.
void save_onnx(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
               ConvertReport& report);

/// Writes `bytes`, a form of the model with all data inside, such as text. If the destination is a folder, also writes
/// the side files and graphs of `model`.
void save_alone(const ByteSource& bytes, const LoadedModel& model, const Destination& destination,
                const SaveOptions& options, ConvertReport& report);

}  // namespace onnxar
