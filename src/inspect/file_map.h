// Maps the bytes of the files of a model, and sums up its tensors (inspect/tensor_sums.h).
#pragma once

#include <filesystem>

#include "convert/model_source.h"
#include "inspect/inspection.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Fills in the fields of `inspection` about tensors and storage, and the maps of files if `options` ask for them.
/// `source` is the model that was opened from `path`, and `proto` is its parsed skeleton.
void add_tensors(Inspection& inspection, const std::filesystem::path& path, const ModelSource& source,
                 const schema::ModelProto& proto, const InspectOptions& options);

}  // namespace onnxar
