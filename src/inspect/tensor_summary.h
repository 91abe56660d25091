// The tensors of a model, added up.
#pragma once

#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// Fills in what `inspection` says of tensors and their storage, and the maps of files if `options` ask for them.
/// `model` is what was opened; `proto` its messages.
void add_tensors(Inspection& inspection, const std::filesystem::path& path, const Resolver& source,
                 const schema::ModelProto& proto, const InspectOptions& options);

}  // namespace onnxar
