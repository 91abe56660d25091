// Sums up the tensors of a model.
#pragma once

#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// Fills in the fields of `inspection` about tensors and storage, and the maps of files if `options` ask for them.
/// `source` is the model that was opened from `path`, and `proto` is its parsed skeleton.
void add_tensors(Inspection& inspection, const std::filesystem::path& path, const Resolver& source,
                 const schema::ModelProto& proto, const InspectOptions& options);

}  // namespace onnxar
